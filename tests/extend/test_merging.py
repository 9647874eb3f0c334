"""`merge_mlir_modules`: the functions of a module among those of another."""

import pytest
from jaxlib.mlir import ir

import covector as cv
import covector.numpy as jnp
from covector.interpreters import mlir

inner = cv.jit(lambda x: jnp.where(x > 0, x, 1.0))


def module_of(fun):
    return cv.jit(fun).lower(jnp.ones(3)).compiler_ir()


def functions(module):
    return [ir.StringAttr(op.attributes["sym_name"]).value for op in module.body.operations]


def test_names_that_are_taken_are_changed_and_calls_follow():
    into = module_of(lambda x: inner(x) + 1)
    copied = module_of(lambda x: inner(x) * inner(x[None]))
    before, text = functions(into), str(copied)
    names = [mlir.merge_mlir_modules(into, "other", copied) for _ in range(2)]
    assert names == ["other", "other_0"]
    assert str(copied) == text
    found = functions(into)
    assert len(set(found)) == len(found) == len(before) + 2 * len(functions(copied))
    assert into.operation.verify()
    assert str(into).count("func.func public") == 1


def test_a_symbol_table_is_kept_up_to_date():
    into, copied = module_of(jnp.sin), module_of(jnp.cos)
    with into.context:
        table = ir.SymbolTable(into.operation)
        name = mlir.merge_mlir_modules(into, "main", copied, table)
        assert name == "main_0" and name in table


@pytest.mark.parametrize("kind", ["DEVICE_TO_DEVICE", "SEND_TO_HOST", "RECV_FROM_HOST"])
def test_kinds_of_channels(jax, kind):
    from jax.interpreters import mlir as oracle

    assert getattr(mlir, f"{kind}_TYPE") == getattr(oracle, f"{kind}_TYPE")
