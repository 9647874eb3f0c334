"""Rematerialization: the bytes that a gradient keeps of its forward pass, and what that costs.

Each policy is applied to every layer, block or step of a program.  Three columns for each library:

  kept   values kept for the backward pass besides the arguments, by `saved_residuals`
  temp   memory that the compiled gradient needs beside arguments and results, by XLA
  time   of one gradient

The last rows of each program are budgets, which JAX has not: a share of the bytes that lie between
saving everything and nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jax._src.ad_checkpoint import saved_residuals as jax_residuals
from jax.ad_checkpoint import checkpoint_name as jax_name

from covector.ad_checkpoint import checkpoint_name, saved_residuals

from .timing import seconds

LAYERS, STEPS = 6, 100
SHARES = (0.75, 0.5, 0.25)


class Cost(NamedTuple):
    """What one gradient costs; a column that a library lacks is None."""

    program: str
    policy: str
    kept: int
    kept_jax: int | None
    temp: int
    temp_jax: int | None
    time: float
    time_jax: float | None


# ---------------------------------------------------------------- the programs


def _random(seed: int, *shape: int) -> np.ndarray:
    draws = np.random.default_rng(seed).standard_normal(shape) / np.sqrt(shape[-2])
    return draws.astype(np.float32)


def mlp(m: Any, name: Callable[[Any, str], Any], wrap: Callable[..., Any]) -> Any:
    """Six layers of width 256 on 1024 examples."""

    @wrap
    def layer(w: Any, x: Any) -> Any:
        return m.nn.gelu(name(x @ w, "product"))

    def loss(ws: Any, x: Any) -> Any:
        for w in ws:
            x = layer(w, x)
        return (x**2).mean()

    return loss, [[_random(i, 256, 256) for i in range(LAYERS)], _random(9, 1024, 256)]


def transformer(m: Any, name: Callable[[Any, str], Any], wrap: Callable[..., Any]) -> Any:
    """Two blocks of width 128 with four heads, on 4 sequences of 128."""
    width, heads = 128, 4

    def normalized(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / m.numpy.sqrt(x.var(-1, keepdims=True) + 1e-5)

    @wrap
    def block(p: Any, x: Any) -> Any:
        wq, wk, wv, wo, up, down = p
        h = normalized(x)
        q, k, v = [name((h @ w).reshape(*x.shape[:-1], heads, -1), "product") for w in (wq, wk, wv)]
        scores = m.numpy.einsum("bthd,bshd->bhts", q, k) / np.float32(np.sqrt(width / heads))
        mixed = m.numpy.einsum("bhts,bshd->bthd", m.nn.softmax(scores), v).reshape(x.shape)
        x = x + name(mixed @ wo, "product")
        return x + m.nn.gelu(name(normalized(x) @ up, "product")) @ down

    def loss(ps: Any, x: Any) -> Any:
        for p in ps:
            x = block(p, x)
        return (x**2).mean()

    wide = [(width, width)] * 4 + [(width, 4 * width), (4 * width, width)]
    params = [[_random(i, *shape) for shape in wide] for i in range(2)]
    return loss, [params, _random(9, 4, 128, width)]


def recurrent(m: Any, name: Callable[[Any, str], Any], wrap: Callable[..., Any]) -> Any:
    """A gated recurrent network of width 64, 100 steps of a scan on 32 examples."""

    def loss(ws: Any, xs: Any) -> Any:
        @wrap
        def step(h: Any, x: Any) -> Any:
            both = m.numpy.concatenate([h, x], axis=-1)
            gate = m.nn.sigmoid(name(both @ ws[0], "product"))
            new = m.numpy.tanh(name(both @ ws[1], "product"))
            return gate * h + (1 - gate) * new, None

        h, _ = m.lax.scan(step, m.numpy.zeros((32, 64), "float32"), xs)
        return (h**2).mean()

    return loss, [[_random(i, 96, 64) for i in range(2)], _random(9, STEPS, 32, 32)]


PROGRAMS = {mlp: LAYERS, transformer: 2, recurrent: 1}

POLICIES = (
    "everything_saveable",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "save_only_these_names",
    "nothing_saveable",
)


# ---------------------------------------------------------------- the measurements


def _wrapper(m: Any, policy: str) -> Callable[..., Any]:
    found = getattr(m.checkpoint_policies, policy)
    if policy == "save_only_these_names":
        found = found("product")
    return partial(m.checkpoint, policy=found)


def _kept(cv: bool, loss: Callable[..., Any], args: list[Any]) -> int:
    """The bytes of what is kept besides the arguments."""
    if cv:
        kept = saved_residuals(loss, *args)
        return sum(r.nbytes for r in kept if "from the argument" not in r.origin)
    kept = jax_residuals(loss, *args)
    return sum(
        aval.size * aval.dtype.itemsize
        for aval, origin in kept
        if "from the argument" not in origin
    )


class _Gradient:
    """The compiled gradient of a program."""

    def __init__(self, m: Any, loss: Callable[..., Any], args: list[Any]):
        self.args = args
        self.compiled = m.jit(m.grad(loss)).lower(*args).compile()
        self.wait = m.block_until_ready
        self.temp = self.compiled.memory_analysis().temp_size_in_bytes

    def __call__(self) -> None:
        self.wait(self.compiled(*self.args))


def _times(gradients: list[_Gradient], rounds: int = 7) -> list[float]:
    """The best time of each, taken in turns."""
    best = [float("inf")] * len(gradients)
    for gradient in gradients:
        gradient()
    for _ in range(rounds):
        for i, gradient in enumerate(gradients):
            best[i] = min(best[i], seconds(gradient, 3))
    return best


def costs(cv: Any, jax: Any) -> Iterator[Cost]:
    """The rows of the table."""
    for program, parts in PROGRAMS.items():
        title = program.__name__
        kept = {}
        wraps: dict[str, Callable[[Any], Any]] = {"no checkpoint": lambda m: lambda f: f}
        wraps |= {policy: partial(_wrapper, policy=policy) for policy in POLICIES}
        for policy, wrap in wraps.items():
            ours, args = program(cv, checkpoint_name, wrap(cv))
            theirs, _ = program(jax, jax_name, wrap(jax))
            kept[policy] = _kept(True, ours, args)
            pair = [_Gradient(cv, ours, args), _Gradient(jax, theirs, args)]
            times = _times(pair)
            yield Cost(
                *(title, policy, kept[policy], _kept(False, theirs, args)),
                *(pair[0].temp, pair[1].temp, *times),
            )
        between = (kept["everything_saveable"] - kept["nothing_saveable"]) // parts
        if program is recurrent:
            between //= STEPS
        for share in SHARES:
            limited = partial(cv.checkpoint, budget=int(share * between))
            ours, args = program(cv, checkpoint_name, limited)
            gradient = _Gradient(cv, ours, args)
            (time,) = _times([gradient])
            bytes_ = _kept(True, ours, args)
            yield Cost(title, f"budget {share:.0%}", bytes_, None, gradient.temp, None, time, None)


def show(rows: Iterator[Cost]) -> list[Cost]:
    """Print the table row by row; bytes in MB, times in ms, JAX's in brackets."""
    print(f"\n{'rematerialization':47}{'kept MB':>16}{'temp MB':>18}{'ms':>18}   (JAX)")
    shown = []
    for row in rows:
        shown.append(row)
        cells = [
            _cell(row.kept, row.kept_jax, 1e-6),
            _cell(row.temp, row.temp_jax, 1e-6),
            _cell(row.time, row.time_jax, 1e3),
        ]
        print(
            f"{row.program:13}{row.policy:34}{cells[0]:>16}{cells[1]:>18}{cells[2]:>18}", flush=True
        )
    return shown


def _cell(ours: float, theirs: float | None, scale: float) -> str:
    other = "-" if theirs is None else f"{theirs * scale:.3g}"
    return f"{ours * scale:.3g} ({other})"
