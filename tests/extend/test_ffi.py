"""Foreign functions: a kernel in C++ compiled here, and those of LAPACK that jaxlib wraps."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import ffi
from covector.extend.core import Primitive
from covector.interpreters import mlir

SOURCE = r"""
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// y = factor * x + shift, and how many numbers that was.
ffi::Error Affine(float factor, int64_t shift, ffi::Buffer<ffi::F32> x,
                  ffi::ResultBuffer<ffi::F32> y, ffi::ResultBuffer<ffi::S32> count) {
  size_t n = x.element_count();
  for (size_t i = 0; i < n; ++i) y->typed_data()[i] = factor * x.typed_data()[i] + shift;
  count->typed_data()[0] = n;
  if (shift < 0) return ffi::Error::InvalidArgument("the shift is negative");
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(AffineHandler, Affine,
                              ffi::Ffi::Bind()
                                  .Attr<float>("factor")
                                  .Attr<int64_t>("shift")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>());
"""


@pytest.fixture(scope="module")
def affine(tmp_path_factory):
    """A function of an array and `shift`, which runs the kernel above."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("ffi")
    (folder / "affine.cc").write_text(SOURCE)
    command = [compiler, "-std=c++17", "-w", "-shared", "-fPIC", "-I", ffi.include_dir()]
    subprocess.run([*command, "affine.cc", "-o", "affine.so"], cwd=folder, check=True)
    library = ctypes.cdll.LoadLibrary(str(folder / "affine.so"))
    ffi.register_ffi_target("test_affine", ffi.pycapsule(library.AffineHandler))

    def call(x, shift=1, **options):
        types = (cv.ShapeDtypeStruct(x.shape, "float32"), cv.ShapeDtypeStruct((), "int32"))
        return ffi.ffi_call("test_affine", types, **options)(x, factor=np.float32(2.0), shift=shift)

    return call


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_kernel_in_cpp(affine):
    for run in (affine, cv.jit(affine)):
        y, count = run(X)
        np.testing.assert_array_equal(y, 2 * X + 1)
        assert count == 6 and y.dtype == "float32" and count.dtype == "int32"
    np.testing.assert_array_equal(affine(X, shift=5)[0], 2 * X + 5)
    np.testing.assert_array_equal(affine(X[:0])[0], X[:0])
    np.testing.assert_array_equal(affine(np.float32(np.inf))[0], np.inf)


def test_error_of_a_kernel(affine):
    with pytest.raises(cv.errors.JaxRuntimeError, match="the shift is negative"):
        np.asarray(affine(X, shift=-1)[0])


def test_layouts(affine):
    """What the kernel takes for rows are columns, in and out, so that nothing else changes."""
    y, _ = affine(X, input_layouts=[(1, 0)], output_layouts=[(1, 0), ()])
    np.testing.assert_array_equal(y, 2 * X + 1)
    y, _ = affine(X, input_layouts=[(1, 0)], output_layouts=[None, None])
    np.testing.assert_array_equal(y, (2 * X + 1).T.reshape(2, 3))


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled"])
def test_vmap_in_a_loop(affine, method):
    y, count = cv.vmap(lambda x: affine(x, vmap_method=method), in_axes=1)(X)
    np.testing.assert_array_equal(y, 2 * X.T + 1)
    np.testing.assert_array_equal(count, [2, 2, 2])


def test_vmap_needs_a_method(affine):
    with pytest.raises(NotImplementedError, match="vmap_method"):
        cv.vmap(affine)(X)


def test_derivative_of_a_rule(affine):
    f = cv.custom_jvp(lambda x: affine(x)[0])
    f.defjvp(lambda primals, tangents: (f(*primals), 2.0 * tangents[0]))
    np.testing.assert_array_equal(cv.grad(lambda x: f(x).sum())(jnp.asarray(X)), np.full((2, 3), 2))
    with pytest.raises(ValueError, match="`test_affine` cannot be differentiated"):
        cv.grad(lambda x: affine(x)[0].sum())(jnp.asarray(X))


def test_unused_call_stays_only_for_its_effect():
    call = ffi.ffi_call("test_gone", cv.ShapeDtypeStruct((), "float32"), has_side_effect=True)
    program = cv.jit(lambda x: (call(x), x)[1])
    assert "test_gone" in program.lower(X).as_text()
    call = ffi.ffi_call("test_gone", cv.ShapeDtypeStruct((), "float32"))
    assert "test_gone" not in cv.jit(lambda x: (call(x), x)[1]).lower(X).as_text()


# ---------------------------------------------------------------- LAPACK

MATRICES = np.stack([np.array([[4.0, 2.0], [2.0, 10.0]]), np.array([[9.0, 3.0], [3.0, 5.0]])])
MATRICES = MATRICES.astype(np.float32)


def cholesky(x, **options):
    types = (cv.ShapeDtypeStruct(x.shape, x.dtype), cv.ShapeDtypeStruct(x.shape[:-2], "int32"))
    by_columns = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    call = ffi.ffi_call(
        "lapack_spotrf_ffi",
        types,
        input_layouts=[by_columns],
        output_layouts=[by_columns, None],
        input_output_aliases={0: 0},
        **options,
    )
    return jnp.tril(call(x, uplo=np.uint8(ord("L")))[0])


@pytest.mark.parametrize("method", ["expand_dims", "broadcast_all", "legacy_vectorized"])
def test_vmap_of_batches(method):
    factors = cv.vmap(lambda x: cholesky(x, vmap_method=method))(MATRICES)
    np.testing.assert_allclose(factors, np.linalg.cholesky(MATRICES), rtol=1e-6)


def test_argument_outlives_the_result_in_its_memory():
    x = jnp.asarray(MATRICES)
    np.testing.assert_allclose(cholesky(x), np.linalg.cholesky(MATRICES), rtol=1e-6)
    np.testing.assert_array_equal(x, MATRICES)


def test_lowering_rule_of_a_users_primitive():
    p = Primitive("factor")
    p.multiple_results = True
    p.def_abstract_eval(lambda x, **_: [x, cv.core.ShapedArray((), np.dtype("int32"))])
    rule = ffi.ffi_lowering(
        "lapack_spotrf_ffi", operand_layouts=[(0, 1)], result_layouts=[(0, 1), ()]
    )
    mlir.register_lowering(p, rule)
    factor, info = cv.jit(lambda x: p.bind(x, uplo=np.uint8(ord("L"))))(MATRICES[0])
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(MATRICES[0]), rtol=1e-6)
    assert info == 0


# ---------------------------------------------------------------- texts


def program(lib):
    attributes = dict(a=1, b=2.5, c="s", d=np.arange(3), e={"q": np.float32(2)}, g=True)
    call = lib.ffi.ffi_call(
        "t",
        (lib.ShapeDtypeStruct((2, 3), "float32"), lib.ShapeDtypeStruct((), "int16")),
        has_side_effect=True,
        input_output_aliases={1: 0},
        input_layouts=[(1, 0), None],
    )

    def f(x, y):
        return call(x, y, **attributes)

    lowered = lib.jit(f).lower(X, X).as_text()
    return str(lib.make_jaxpr(f)(X, X)), [x for x in lowered.splitlines() if "@t" in x]


def test_programs_are_those_of_jax(jax):
    assert program(cv) == program(jax)


MISTAKES = [
    (dict(vmap_method="all"), {}, "vmap_method must be one of"),
    (dict(legacy_backend_config="1"), {}, "The use of the legacy_backend_config"),
    (dict(custom_call_api_version=2), dict(a=1), "The use of ffi_call attributes requires"),
    (dict(input_layouts=[]), {}, "input_layouts has 0 entries, but there are 1 inputs"),
    (dict(input_output_aliases={1: 0}), {}, "with input index out of range: there are 1 inputs"),
    (dict(input_output_aliases={0: 1}), {}, "with output index out of range: there are 1 outputs"),
    (
        dict(input_output_aliases={0: 0}, input_layouts=[(1, 0)]),
        {},
        r"an input with layout \(0, 1\) and an output with layout \(1, 0\)",
    ),
]


@pytest.mark.parametrize("options, attributes, text", MISTAKES)
def test_mistakes(options, attributes, text):
    with pytest.raises(ValueError, match=text):
        ffi.ffi_call("t", cv.ShapeDtypeStruct((2, 3), "float32"), **options)(X, **attributes)


def test_wrong_types():
    with pytest.raises(ValueError, match=r"shape and a dtype.*position 1 is 3"):
        ffi.ffi_call("t", [cv.ShapeDtypeStruct((), "float32"), 3])
    with pytest.raises(ValueError, match=r"abstract value float32\[2,3\] and an output with int32"):
        result = cv.ShapeDtypeStruct((2, 3), "int32")
        ffi.ffi_call("t", result, input_output_aliases={0: 0})(X)
    with pytest.raises(TypeError, match=r"the attribute a is \[1\], which is not hashable"):
        ffi.ffi_call("t", cv.ShapeDtypeStruct((), "int32"))(X, a=[1])
    with pytest.raises(ValueError, match="register_ffi_type"):
        ffi.register_ffi_type_id("t", None)
