"""Programs as portable artifacts: bytes that other versions of jaxlib read, on every platform.

An artifact holds a module in StableHLO's own versioned form, in a version that is twelve weeks old,
so that processes with an older jaxlib read it too: of those we support, all that the others write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jaxlib.mlir._mlir_libs import _stablehlo

from . import lapack
from .dynamic import cast
from .mlir import ir, make_context
from .module import ModuleContext
from .native import _jax, xla_client

# What opens every artifact.
ARTIFACT_START = b"ML\xefR"


class UnreadableArtifact(ValueError):
    """This jaxlib cannot read an artifact."""


def to_artifact(module: Any) -> bytes:
    """A module as an artifact."""
    twelve_weeks = _stablehlo.StablehloCompatibilityRequirement.WEEK_12
    version = _stablehlo.get_version_from_compatibility_requirement(twelve_weeks)
    return _jax.mlir.serialize_portable_artifact(module, version, True)


def from_artifact(artifact: bytes) -> Any:
    """The module of an artifact, in the current MLIR context, or in one of its own without any.

    Raises:
      UnreadableArtifact: this jaxlib cannot read it.
    """
    if not artifact.startswith(ARTIFACT_START):
        raise UnreadableArtifact("it does not begin as MLIR's programs do")
    context = ir.Context.current if ir.Context.current is not None else make_context()
    with context:
        try:
            return _jax.mlir.deserialize_portable_artifact(artifact)
        except xla_client.XlaRuntimeError as error:
            raise UnreadableArtifact(str(error)) from None


def artifact_text(artifact: bytes) -> str:
    """An artifact's module as text."""
    with make_context():
        return from_artifact(artifact).operation.get_asm()


def called_targets(module: Any) -> list[str]:
    """The names of the foreign functions that a module calls, each once."""
    found = {
        ir.StringAttr(op.attributes["call_target_name"]).value: None
        for op in _operations(module.operation)
        if op.name == "stablehlo.custom_call"
    }
    return list(found)


def _operations(op: Any) -> Iterator[Any]:
    """An operation and all operations inside it."""
    yield op
    for region in op.regions:
        for block in region:
            for inner in block:
                yield from _operations(inner.operation)


def add_program(module: ModuleContext, copied: Any, name: str) -> Any:
    """Move the functions of an artifact's module into one that is being written.

    Args:
      module: where to.
      copied: the artifact's module, in the same MLIR context; it is empty afterwards.
      name: what its entry is to be called, or to begin with.

    Returns:
      The entry's operation, `func.func`.
    """
    for target in called_targets(copied):
        lapack.load_for(target)
    functions = [op.operation for op in copied.body.operations]
    own = [_name_of(function) for function in functions]
    # By way of names that nobody has, as a new name may be that of another function of the copy.
    for i, (function, old) in enumerate(zip(functions, own)):
        _rename(copied, function, old, f"{i} of the copy")
    for i, (function, old) in enumerate(zip(functions, own)):
        new = module.fresh_name(name if old == "main" else old)
        _rename(copied, function, f"{i} of the copy", new)
        function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    for function in functions:
        module.module.body.append(function)
    return functions[own.index("main")]


def _name_of(function: Any) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _rename(module: Any, function: Any, old: str, new: str) -> None:
    ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
    ir.SymbolTable.set_symbol_name(function, new)


def call_function(function: Any, operands: Sequence[Any]) -> list[Any]:
    """Call a function, by its operation, at the current place.

    Operands may have types in which more or fewer sizes are known than in those of the parameters.
    """
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    op = ir.Operation.create(
        "func.call",
        results=kind.results,
        operands=list(map(cast, operands, kind.inputs)),
        attributes={"callee": ir.FlatSymbolRefAttr.get(_name_of(function))},
    )
    return list(op.results)
