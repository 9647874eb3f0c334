"""Writing a jaxpr as a module of StableHLO.

The module's `main` is the jaxpr; a jaxpr in a parameter of an eqn (`jit`, a branch, a loop's body)
becomes a private function, once for all that say the same, however often it is called.

Large arrays that functions captured are not written into the program, where XLA would copy them
around and fold what is computed from them: they are parameters of `main`, after its own ones, and
of all functions on the way from there to where they are read.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from ..base import config, dtypes, source
from ..base.compile_errors import array_too_large
from ..core.avals import AbstractToken, AbstractValue, ShapedArray, abstract_token, aval_of
from ..core.effects import Effect, ordered_effects
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from ..core.scopes import attributes_within, scope_path
from ..ops.physical import physical_aval
from .array import ArrayImpl
from .mlir import ir, without_builders
from .shardy import Meshes
from .spread import Spread
from .structure import Structures
from .vocabulary import give_back, take

EmitterFactory = Callable[..., Any]

# The attribute of an operation that holds what passes of XLA may want to know.
_FRONTEND = "mhlo.frontend_attributes"

# Captured arrays of more bytes are parameters of the program; smaller ones are constants in it.
CONSTANT_BYTES = 1024


class Frame:
    """A function that is being written, or that was.

    Attributes:
      block: its body.
      captured: the large arrays that are parameters of it, by id, each with its MLIR value.
    """

    __slots__ = ("block", "captured")

    def __init__(self, block: Any):
        self.block = block
        self.captured: dict[int, tuple[Any, Any]] = {}

    def arrays(self) -> list[Any]:
        """The captured arrays."""
        return [array for array, _ in self.captured.values()]


class ModuleContext:
    """A module that is being written.

    Attributes:
      context, module: the MLIR context and module.
      platform: the platform whose lowering rules apply, e.g. `"cpu"`.
      host_callbacks: Python functions that the compiled program calls.
      keepalives: objects that must live as long as the compiled program.
      cached_primitive_lowerings: functions of users' lowering rules, by what they were made for.
      tokens: of each ordered effect, what its last eqn has returned at the current place.
      loops: how many loops there are where functions are written out.
      has_nested_loops: whether one of them is in another.
      compile_options: options of XLA by name with which this program runs better.
      disabled_passes: names of XLA's passes that must not run on this program.
      generator_options: names of what XLA's generator of code does on demand.
      inspections: functions that are told of the sharding of a value when it is known.
      barriers: how many optimization barriers there are where functions are written out.
      has_barriers_in_loops: whether one of them is in a loop.
      has_barriers_on_elements: whether one of them is in what combines single elements, as of a
        reduction.
      is_portable: whether the module is written for other processes: it holds all of its constants,
        calls no kernels of ours, and its entry takes and returns the tokens of ordered effects.
      spread: of a program for several devices, how it is spread over them.
      devices: those of such a program, in its order; of one for one device, none.
      meshes: the meshes that the module names.
      sharding_groups: how many groups of arrays there are that are spread alike.
      region: the `shard_map` whose body is being written (`ops.replicas.Region`), or None.
    """

    def __init__(
        self,
        name: str,
        platform: str,
        make_emitter: EmitterFactory,
        is_portable: bool = False,
        spread: Spread | None = None,
    ):
        self.is_portable = is_portable
        self.spread = spread
        self.devices: tuple[Any, ...] = () if spread is None else spread.devices
        self._vocabulary = take()
        self.context = self._vocabulary.context
        self.platform = platform
        self.make_emitter = make_emitter
        self.host_callbacks: list[Any] = []
        self.keepalives: list[Any] = []
        self.cached_primitive_lowerings: dict[Any, Any] = {}
        self.tokens: dict[Effect, Any] = {}
        self.loops = 0
        self.has_nested_loops = False
        self.compile_options: dict[str, Any] = {}
        self.disabled_passes: set[str] = set()
        self.generator_options: set[str] = set()
        self.inspections: list[Callable[[Any], Any]] = []
        self.barriers = 0
        self.has_barriers_in_loops = False
        self.has_barriers_on_elements = False
        self.captured: list[Any] = []
        self._types: dict[AbstractValue, Any] = self._vocabulary.types
        self._attributes: dict[Any, Any] = self._vocabulary.attributes
        self._locations: dict[Any, Any] = {}
        self._structures = Structures()
        self._functions: dict[Any, tuple[str, Frame | None]] = {}
        # The function that is being written; None where captured arrays cannot be parameters.
        self._frame: Frame | None = None
        self._names: dict[str, int] = {}
        self._counts_of: dict[str, tuple[int, int]] = {}
        with self.context, ir.Location.unknown(), without_builders():
            self.module = ir.Module.create()
            self.module.operation.attributes["sym_name"] = ir.StringAttr.get(_symbol(name))
            self._i64 = ir.IntegerType.get_signless(64)
            i32 = ir.IntegerType.get_signless(32)
            counts = {"mhlo.num_partitions": len(self.devices) or 1, "mhlo.num_replicas": 1}
            for count, number in counts.items():
                self.module.operation.attributes[count] = ir.IntegerAttr.get(i32, number)
        self.meshes = Meshes(self.module, self.devices)
        self.region: Any = None
        self.sharding_groups = 0

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Free the module, which takes a while; interrupts that come in `__del__` are lost."""
        vocabulary = vars(self).pop("_vocabulary", None)
        if vocabulary is not None:
            vocabulary.places += len(self._locations)
            vars(self).clear()  # the module first
            give_back(vocabulary)

    @property
    def platforms(self) -> tuple[str, ...]:
        return (self.platform,)

    def add_keepalive(self, kept: Any) -> None:
        """Let an object live as long as the compiled program; for users' lowering rules."""
        self.keepalives.append(kept)

    # ---------------------------------------------------------------- types, attributes, constants

    def type_of(self, aval: AbstractValue) -> Any:
        """The MLIR type of an aval."""
        found = self._types.get(aval)
        if found is None:
            if isinstance(aval, AbstractToken):
                found = ir.Type.parse("!stablehlo.token")
            else:
                physical = physical_aval(aval)
                _check_addressable(physical)
                found = ir.RankedTensorType.get(physical.shape, element_type(physical.dtype))
            self._types[aval] = found
        return found

    def attribute(self, value: Any) -> Any:
        """A Python value as an MLIR attribute (see `Emitter.op`)."""
        if isinstance(value, ir.Attribute):
            return value
        if isinstance(value, np.ndarray):
            return dense_elements(value)
        key = (type(value), tuple(value) if isinstance(value, list) else value)
        try:
            found = self._attributes.get(key)
        except TypeError:
            return self._make_attribute(value)
        if found is None:
            found = self._attributes[key] = self._make_attribute(value)
        return found

    def _make_attribute(self, value: Any) -> Any:
        if value is None:
            return ir.UnitAttr.get()
        if isinstance(value, (bool, np.bool_)):
            return ir.BoolAttr.get(bool(value))
        if isinstance(value, np.integer):
            return ir.IntegerAttr.get(element_type(value.dtype), int(value))
        if isinstance(value, np.floating):
            return ir.FloatAttr.get(element_type(value.dtype), float(value))
        if isinstance(value, int):
            return ir.IntegerAttr.get(self._i64, value)
        if isinstance(value, str):
            self._vocabulary.nbytes += len(value)
            return ir.Attribute.parse(value) if value[:1] == "#" else ir.StringAttr.get(value)
        if isinstance(value, np.dtype):
            return ir.TypeAttr.get(element_type(value))
        if isinstance(value, dict):
            return ir.DictAttr.get({key: self.attribute(item) for key, item in value.items()})
        if all(isinstance(item, (int, np.integer)) for item in value):
            return ir.DenseI64ArrayAttr.get([int(item) for item in value])
        return ir.ArrayAttr.get([self.attribute(item) for item in value])

    def constant(self, value: np.ndarray) -> Any:
        """Write a constant."""
        value = np.asarray(value)
        if value.ndim:
            self._vocabulary.nbytes += value.nbytes
            if not any(value.strides):  # a broadcast scalar stays one
                value = np.ascontiguousarray(value)
            attribute = dense_elements(value)
        else:
            key = (value.dtype, value.tobytes())  # for which 0.0 and -0.0 are two, and NaN is one
            attribute = self._attributes.get(key)
            if attribute is None:
                attribute = self._attributes[key] = dense_elements(value)
        return ir.Operation.create(
            "stablehlo.constant", results=[attribute.type], attributes={"value": attribute}
        ).result

    def constants(self, values: Sequence[Any]) -> list[Any]:
        """The constants of a jaxpr, in the dtypes that its variables have."""
        return list(map(self._constant_or_parameter, values))

    def _constant_or_parameter(self, x: Any) -> Any:
        is_elsewhere = type(x) is ArrayImpl and not x._is_whole_here
        is_large = nbytes(aval_of(x)) > CONSTANT_BYTES
        if self._frame is not None and (is_large or is_elsewhere):
            return self._parameter(self._frame, x)
        array = x.to_numpy() if type(x) is ArrayImpl else np.asarray(x)
        return self.constant(array.astype(dtypes.dtype_of(array), copy=False))

    def _parameter(self, frame: Frame, array: Any) -> Any:
        """A captured array as a parameter of the function that is being written."""
        if id(array) not in frame.captured:
            value = frame.block.add_argument(self.type_of(aval_of(array)), ir.Location.unknown())
            frame.captured[id(array)] = array, value
        return frame.captured[id(array)][1]

    @contextmanager
    def without_parameters(self) -> Iterator[None]:
        """Within, captured arrays are constants, however large they are."""
        frame, self._frame = self._frame, None
        try:
            yield
        finally:
            self._frame = frame

    def location(self, eqn: JaxprEqn, scopes: tuple[str, ...]) -> Any:
        """The place in the user's program, and the scopes' names, for profiles and dumps."""
        name = eqn.primitive.name
        is_scope = eqn.primitive.shares_names
        if is_scope:  # transformations wrap its name, as they wrap those of other scopes
            name = f"{name}({eqn.params['name']})"
        key = (eqn.source, scopes, eqn.name_stack, name)
        found = self._locations.get(key)
        if found is None:
            within = (*scopes, *eqn.name_stack)
            path = scope_path((*within, name) if is_scope else within)
            name = path if is_scope else f"{path}/{name}" if path else name
            place = source.file_and_line(eqn.source)
            child = _file_location(*place) if place else ir.Location.unknown()
            found = self._locations[key] = ir.Location.name(name, childLoc=child)
        return found

    def mark(self, results: Any, attributes: Mapping[str, str]) -> None:
        """Let the operations of which these are results carry attributes; what they have, stays."""
        if not attributes:
            return
        new = {name: ir.StringAttr.get(text) for name, text in attributes.items()}
        for value in results if isinstance(results, (list, tuple)) else (results,):
            op = value.owner
            if not isinstance(op, ir.Block):  # as parameters belong to one
                before = op.attributes.get(_FRONTEND)
                old = {} if before is None else {item.name: item.attr for item in before}
                op.attributes[_FRONTEND] = ir.DictAttr.get({**new, **old})

    # ---------------------------------------------------------------- functions

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within, parts of the module can be written."""
        with self.context, ir.Location.unknown(), without_builders():
            yield

    def write_main(
        self,
        name: str,
        jaxpr: Jaxpr,
        consts: Sequence[Any],
        arg_attributes: Sequence[dict[str, Any]],
        result_attributes: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Write the jaxpr of the function `name` as the module's entry, its constants included."""
        with self.writing():
            scopes = (f"jit({name})",)
            attributes = arg_attributes, result_attributes
            frame = self._write_function("main", jaxpr, scopes, "public", attributes, consts)
            self.captured = frame.arrays()
            self.meshes.to_front()

    def call(self, name: str, closed: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
        """Call the function of a jaxpr, writing it first if this is its first call."""
        constants = self.constants(closed.consts)
        effects = ordered_effects(closed.effects)
        symbol, frame = self._function_of(name, closed.jaxpr)
        captured = frame.arrays() if frame is not None else []
        op = ir.Operation.create(
            "func.call",
            results=[
                *self.token_types(effects),
                *[self.type_of(v.aval) for v in closed.jaxpr.outvars],
            ],
            operands=[
                *self.current_tokens(effects),
                *constants,
                *operands,
                *self.constants(captured),
            ],
            attributes={"callee": ir.FlatSymbolRefAttr.get(symbol)},
        )
        results = list(op.results)
        self.tokens.update(zip(effects, results))
        return results[len(effects) :]

    def function(self, name: str, closed: ClosedJaxpr) -> Any:
        """The attribute that refers to the function of a jaxpr, which is written if it was not.

        Its first parameters are the tokens of ordered effects, which it also returns first, and the
        jaxpr's constants.
        """
        with self.without_parameters():
            symbol, _ = self._function_of(name, closed.jaxpr)
        return ir.FlatSymbolRefAttr.get(symbol)

    def _function_of(self, name: str, jaxpr: Jaxpr) -> tuple[str, Frame | None]:
        """The symbol of a jaxpr's function, and its frame if captured arrays are parameters."""
        key = (name, self._structures.number(jaxpr), self._frame is None, self.region)
        found = self._functions.get(key)
        if found is None:
            symbol, before = self.fresh_name(name), (self.barriers, self.loops)
            # XLA puts the name of the call in front of the names within.
            frame = self._write_function(symbol, jaxpr, (), "private")
            self._counts_of[symbol] = self.barriers - before[0], self.loops - before[1]
            found = self._functions[key] = symbol, None if self._frame is None else frame
        else:
            barriers, loops = self._counts_of.get(found[0], (0, 0))
            self.barriers += barriers
            self.loops += loops
        return found

    def note_barriers(self, op: str) -> None:
        """Note that there are barriers in the regions of an op of this name."""
        self.has_barriers_in_loops |= op == "while"
        self.has_barriers_on_elements |= op not in ("while", "case")

    # ---------------------------------------------------------------- ordered effects

    def token_types(self, effects: Sequence[Effect]) -> list[Any]:
        """The types of the tokens of effects."""
        return [self.type_of(abstract_token)] * len(effects)

    def current_tokens(self, effects: Sequence[Effect]) -> list[Any]:
        """The tokens of ordered effects, each of which the effect's next eqn has to take."""
        for effect in effects:
            if effect not in self.tokens:
                kinds = self.token_types([effect])
                op = ir.Operation.create("stablehlo.create_token", results=kinds)
                self.tokens[effect] = op.result
        return [self.tokens[effect] for effect in effects]

    def fresh_name(self, name: str) -> str:
        """A symbol for another function of the module."""
        safe = _symbol(name) or "fun"
        safe = safe if safe != "main" else "main_"
        count = self._names.get(safe, 0)
        self._names[safe] = count + 1
        return f"{safe}_{count}" if count else safe

    def _write_function(
        self,
        symbol: str,
        jaxpr: Jaxpr,
        scopes: tuple[str, ...],
        visibility: str,
        attributes: tuple[Sequence[dict[str, Any]], ...] = ((), ()),
        consts: Sequence[Any] | None = None,
    ) -> Frame:
        """Write a function; its constants are written into it if given, else parameters.

        The attributes are those of the arguments and those of the results.
        """
        params = [*jaxpr.constvars, *jaxpr.invars] if consts is None else jaxpr.invars
        is_called = consts is None or self.is_portable
        effects = ordered_effects(jaxpr.effects) if is_called else []
        tokens = self.token_types(effects)
        with ir.InsertionPoint.at_block_begin(self.module.body):
            func = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(symbol),
                    "sym_visibility": ir.StringAttr.get(visibility),
                    "function_type": _function_type([], []),
                },
                regions=1,
            )
        block = func.regions[0].blocks.append(*tokens, *[self.type_of(v.aval) for v in params])
        around, self.tokens = self.tokens, dict(zip(effects, block.arguments))
        frame = Frame(block)
        takes_captured = self._frame is not None or not is_called
        outer, self._frame = self._frame, frame if takes_captured else None
        given = list(block.arguments)[len(effects) :]
        with ir.InsertionPoint(block):
            outs = self.write_eqns(jaxpr, [*self.constants(consts or ()), *given], scopes)
            outs = [*self.current_tokens(effects), *outs]
            ir.Operation.create("func.return", results=[], operands=outs)
        self.tokens, self._frame = around, outer
        in_types = [argument.type for argument in block.arguments]
        func.attributes["function_type"] = _function_type(in_types, [x.type for x in outs])
        captured = [self._of_captured(array) for array in frame.arrays()]
        of_tokens: list[dict[str, Any]] = [{} for _ in tokens]
        for name, given in zip(("arg_attrs", "res_attrs"), attributes):
            if given:
                each = [*of_tokens, *given, *(captured if name == "arg_attrs" else ())]
                func.attributes[name] = ir.ArrayAttr.get(list(map(self.attribute, each)))
        return frame

    def _of_captured(self, array: Any) -> dict[str, Any]:
        """The attributes of the parameter that a captured array is."""
        placement = array._placement if type(array) is ArrayImpl else None
        if not self.devices or placement is None or placement.devices != self.devices:
            return {}
        return {"sdy.sharding": self.meshes.sharding(placement.sharding, array.aval)}

    def inline(
        self, closed: ClosedJaxpr, operands: Sequence[Any], scopes: tuple[str, ...]
    ) -> list[Any]:
        """Write the eqns of a jaxpr at the current place."""
        constants = self.constants(closed.consts)
        return self.write_eqns(closed.jaxpr, [*constants, *operands], scopes)

    def write_eqns(
        self, jaxpr: Jaxpr, operands: Sequence[Any], scopes: tuple[str, ...]
    ) -> list[Any]:
        """Write the eqns of a jaxpr, of whose constants and inputs `operands` are the values."""
        env: dict[Var, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], operands))

        def read(atom: Any) -> Any:
            if type(atom) is Literal:
                return self.constant(np.asarray(atom.val, dtype=atom.aval.dtype))
            return env[atom]

        for eqn in jaxpr.eqns:
            emitter = self.make_emitter(
                self,
                eqn.primitive,
                [v.aval for v in eqn.invars],
                [v.aval for v in eqn.outvars],
                eqn,
                scopes,
            )
            with self.location(eqn, scopes):
                out = eqn.primitive.emit(emitter, *map(read, eqn.invars), **eqn.params)
            if eqn.name_stack:
                self.mark(out, attributes_within(eqn.name_stack))
            if isinstance(out, (list, tuple)):
                env.update(zip(eqn.outvars, out))
            else:
                env[eqn.outvars[0]] = out
        return [read(atom) for atom in jaxpr.outvars]


def _check_addressable(aval: ShapedArray) -> None:
    """Raise if no address could reach all elements of an array: XLA would end the process."""
    if math.prod([size or 1 for size in aval.shape]) * aval.dtype.itemsize > sys.maxsize:
        raise ValueError(array_too_large(aval))


def nbytes(aval: Any) -> int:
    """How many bytes an array takes; 0 for what is no array."""
    return aval.size * aval.dtype.itemsize if isinstance(aval, ShapedArray) else 0


def _function_type(in_types: Sequence[Any], out_types: Sequence[Any]) -> Any:
    return ir.TypeAttr.get(ir.FunctionType.get(in_types, out_types))


def _file_location(file: str, line: int) -> Any:
    pattern = config.hlo_source_file_canonicalization_regex.value
    return ir.Location.file(re.sub(pattern, "", file) if pattern else file, line, 0)


def _symbol(name: str) -> str:
    """A function's name as one that every tool down the line accepts."""
    return "".join(c if c.isalnum() or c in "_." else "_" for c in name).rstrip("_")


# ---------------------------------------------------------------- dtypes in MLIR

_FLOAT_TYPES: dict[str, Callable[[], Any]] = {
    "float16": lambda: ir.F16Type.get(),
    "bfloat16": lambda: ir.BF16Type.get(),
    "float32": lambda: ir.F32Type.get(),
    "float64": lambda: ir.F64Type.get(),
    "complex64": lambda: ir.ComplexType.get(ir.F32Type.get()),
    "complex128": lambda: ir.ComplexType.get(ir.F64Type.get()),
    "bool": lambda: ir.IntegerType.get_signless(1),
}


def element_type(dtype: Any) -> Any:
    """The MLIR type of an array's elements."""
    return _maker_of(dtype)()


@cache
def _maker_of(dtype: Any) -> Callable[[], Any]:
    """What makes the MLIR type of a dtype in the current context."""
    if dtype == dtypes.float0:
        return _FLOAT_TYPES["bool"]
    name = np.dtype(dtype).name
    if name in _FLOAT_TYPES:
        return _FLOAT_TYPES[name]
    if name.startswith("float"):  # the 8-, 6- and 4-bit floats are spelled the same but for this
        spelling = "f" + name.removeprefix("float").upper().replace("_", "")
        return lambda: ir.Type.parse(spelling)
    width = dtypes.bit_width(dtype)
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        return lambda: ir.IntegerType.get_unsigned(width)
    return lambda: ir.IntegerType.get_signless(width)


_SUB_BYTE = {
    np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)
}


def dense_elements(value: np.ndarray) -> Any:
    """An array as an MLIR attribute; a scalar, or an array of one value, as a splat."""
    value = np.asarray(value)
    if value.dtype == dtypes.float0:
        value = np.zeros(value.shape, np.bool_)
    kind = element_type(value.dtype)
    shape = value.shape
    if value.dtype in _SUB_BYTE:
        value = value.astype(np.int8 if np.dtype(value.dtype).name[0] == "i" else np.uint8)
    elif value.dtype.kind == "V" or value.dtype.isbuiltin != 1:
        value = value.view(f"uint{8 * value.dtype.itemsize}")
    return ir.DenseElementsAttr.get(np.ascontiguousarray(value), type=kind, shape=shape)
