"""`debug.breakpoint`: a prompt in the middle of a compiled program.

While the program is traced, the frames of the user's functions are taken down, with their local
variables.  The traced values among these become operands of a callback, which puts the values that
they have when the program runs in their places, and opens the prompt.
"""

from __future__ import annotations

import cmd
import linecache
import pprint
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from ..base import callback_errors as errors
from ..base import tree
from ..base.source import is_own_frame
from ..control.callbacks import FlatCallback, pure_callback_p
from ..control.debug_callbacks import debug_callback_p, debug_effect, ordered_debug_effect
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..ops.identities import stop_gradient

# Lines of the source that are listed on both sides of the current one.
LINES_AROUND = 5

# One prompt at a time, however many threads run into one.
_prompting = threading.Lock()


class Frame(NamedTuple):
    """A function that was being traced, with its variables.

    Attributes:
      file, line, function: where it was.
      variables: its local variables, by name.
      module: the global variables that it sees.
    """

    file: str
    line: int
    function: str
    variables: dict[str, Any]
    module: dict[str, Any]

    def where(self) -> str:
        return f"{self.file}({self.line}) in {self.function}"

    def listing(self) -> str:
        """The lines around the current one."""
        lines = [f"> {self.file}({self.line})"]
        for number in range(max(1, self.line - LINES_AROUND), self.line + LINES_AROUND + 1):
            text = linecache.getline(self.file, number)
            if text:
                mark = "->" if number == self.line else "  "
                lines.append(f"{mark} {number:4} {text.rstrip()}")
        return "\n".join(lines)

    def value(self, expression: str) -> Any:
        """The value of a Python expression in the frame."""
        return eval(expression, {**self.module, **self.variables})


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    stdin: Any = None,
    stdout: Any = None,
) -> Any:
    """Stop here whenever the program runs, and open a prompt for looking at its values.

    At the prompt an expression prints its value, as `p` and `pp` do; `l` lists the source, `u` and
    `d` go to the calling function and back, `bt` shows all of them, `c` continues and `q` quits.

    Args:
      backend: the kind of debugger: `"cli"`, which is also the default, at the terminal.
      filter_frames: whether to leave out the functions of this package.
      num_frames: how many functions can be looked into, from the innermost; by default all.
      ordered: whether the stop keeps its order among all calls that are ordered.
      token: a tree of arrays, which is returned as it is: the stop is where it is computed, and
        none if nothing uses what is returned.
      stdin, stdout: files to read commands from and to write to, instead of the terminal.

    Returns:
      `token`.

    Raises:
      ValueError: `backend` is unknown, or both `token` and `ordered` are given.
      SystemExit: the user has quit.

    >>> import covector as cv, covector.numpy as jnp, io
    >>> commands, answers = io.StringIO("p x, y\\nc\\n"), io.StringIO()
    >>> @cv.jit
    ... def f(x):
    ...     y = jnp.sin(x)
    ...     cv.debug.breakpoint(stdin=commands, stdout=answers, filter_frames=False, num_frames=1)
    ...     return y
    >>> _ = f(jnp.zeros(())); cv.effects_barrier(); print(answers.getvalue().rstrip())
    Entering cdb:
    (cdb) (Array(0., dtype=float32), Array(0., dtype=float32))
    (cdb)
    """
    if backend not in (None, "cli"):
        raise ValueError(errors.unknown_debugger(backend))
    if token is not None and ordered:
        raise ValueError(errors.token_and_ordered())
    values = _Values(_frames(sys._getframe(1), filter_frames, num_frames))
    tracers = values.take_tracers()

    def stop(*arrays: Any) -> tuple[()]:
        prompt = Prompt([values.frame(i, arrays) for i in range(len(values.frames))], stdin, stdout)
        with _prompting:
            prompt.cmdloop()
        return ()

    if token is None:
        effect = ordered_debug_effect if ordered else debug_effect
        debug_callback_p.bind(*tracers, callback=stop, effect=effect, partitioned=False)
        return None
    return _pass_through(token, tracers, stop)


def _pass_through(token: Any, tracers: list[Any], stop: Callable[..., Any]) -> Any:
    """A tree of arrays as it is, by way of the stop."""
    leaves, treedef = tree.flatten(token)
    count = len(leaves)

    def stop_and_return(*arrays: Any) -> list[Any]:
        stop(*arrays[count:])
        return list(arrays[:count])

    operands = [stop_gradient(x) for x in (*leaves, *tracers)]
    outs = pure_callback_p.bind(
        *operands,
        callback=FlatCallback(stop_and_return, tree.structure((tuple(operands), {}))),
        result_avals=tuple([aval_of(x) for x in leaves]),
        sharding=None,
        vmap_method=None,
    )
    return tree.unflatten(treedef, outs)


def _frames(frame: FrameType | None, filter_frames: bool, limit: int | None) -> list[Frame]:
    """The functions being run, from the innermost."""
    found: list[Frame] = []
    while frame is not None and (limit is None or len(found) < limit):
        if not (filter_frames and is_own_frame(frame)):
            code, variables = frame.f_code, dict(frame.f_locals)
            found.append(
                Frame(code.co_filename, frame.f_lineno, code.co_name, variables, frame.f_globals)
            )
        frame = frame.f_back
    return found


class _Values:
    """The variables of frames, with the traced values in them taken out.

    Attributes:
      tracers: each traced value once, until they are taken.
    """

    def __init__(self, frames: list[Frame]):
        self.tracers: list[Any] = []
        # For each frame the variables with traced values: the other leaves, the numbers of those
        # that are traced, and the structure.
        self.traced: list[dict[str, tuple[list[Any], dict[int, int], Any]]] = []
        self.frames = []
        numbers: dict[int, int] = {}
        for frame in frames:
            traced = {}
            for name, value in frame.variables.items():
                leaves, treedef = _flattened(value)
                found = {i: x for i, x in enumerate(leaves) if _is_traced(x)}
                for tracer in found.values():
                    if id(tracer) not in numbers:
                        numbers[id(tracer)] = len(self.tracers)
                        self.tracers.append(tracer)
                if found:
                    others = [None if i in found else x for i, x in enumerate(leaves)]
                    traced[name] = others, {i: numbers[id(x)] for i, x in found.items()}, treedef
            self.traced.append(traced)
            rest = {name: x for name, x in frame.variables.items() if name not in traced}
            self.frames.append(frame._replace(variables=rest))

    def take_tracers(self) -> list[Any]:
        """The traced values, which are no longer kept: they must not outlive the tracing."""
        tracers, self.tracers = self.tracers, []
        return tracers

    def frame(self, index: int, arrays: tuple[Any, ...]) -> Frame:
        """A frame with arrays in the place of traced values."""
        found = self.frames[index]
        variables = dict(found.variables)
        for name, (leaves, numbers, treedef) in self.traced[index].items():
            given = [arrays[numbers[i]] if i in numbers else x for i, x in enumerate(leaves)]
            variables[name] = tree.unflatten(treedef, given)
        return found._replace(variables=variables)


def _flattened(value: Any) -> tuple[list[Any], Any]:
    """The leaves of a variable, and its structure; no leaves if it is no tree."""
    try:
        return tree.flatten(value)
    except Exception:  # what a user's own node raises, or keys without an order
        return [], None


def _is_traced(x: Any) -> bool:
    return isinstance(x, Tracer) and x._trace.alive


class Prompt(cmd.Cmd):
    """The commands at a breakpoint."""

    prompt = "(cdb) "
    intro = "Entering cdb:"
    doc_header = "Commands:"

    def __init__(self, frames: list[Frame], stdin: Any = None, stdout: Any = None):
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self.frames = frames
        self.index = 0

    @property
    def frame(self) -> Frame:
        return self.frames[self.index]

    def say(self, text: str) -> None:
        self.stdout.write(text + "\n")

    def show(self, expression: str, write: Callable[[Any], str]) -> None:
        """Write the value of an expression, or the exception that it raises."""
        try:
            text = write(self.frame.value(expression))
        except Exception as error:
            text = f"*** {type(error).__name__}: {error}"
        self.say(text)

    def move(self, index: int, end: str) -> None:
        """Go to another function, and list it."""
        if not 0 <= index < len(self.frames):
            self.say(end)
            return
        self.index = index
        self.do_list("")

    def do_print(self, expression: str) -> None:
        """p(rint) expression: print its value."""
        self.show(expression, repr)

    def do_pp(self, expression: str) -> None:
        """pp expression: print its value over several lines."""
        self.show(expression, pprint.pformat)

    def do_list(self, _: str) -> None:
        """l(ist): show the source."""
        self.say(self.frame.listing())

    def do_up(self, _: str) -> None:
        """u(p): go to the calling function."""
        self.move(self.index + 1, "At topmost frame.")

    def do_down(self, _: str) -> None:
        """d(own): go to the called function."""
        self.move(self.index - 1, "At bottommost frame.")

    def do_where(self, _: str) -> None:
        """w(here), bt: show all functions, the innermost last."""
        self.say("Traceback:")
        for i, frame in reversed(list(enumerate(self.frames))):
            self.say(f"{'->' if i == self.index else '  '} {frame.where()}")

    def do_continue(self, _: str) -> bool:
        """c(ontinue): let the program run on."""
        return True

    def do_quit(self, _: str) -> None:
        """q(uit): end the program."""
        raise SystemExit(0)

    do_p, do_l, do_u, do_d, do_w, do_bt = do_print, do_list, do_up, do_down, do_where, do_where
    do_c, do_q, do_EOF = do_continue, do_quit, do_quit

    def emptyline(self) -> bool:
        return False

    def default(self, line: str) -> None:
        self.show(line, repr)
