"""`check_primitive` finds what is wrong: for each rule a wrong one, and the row that says so."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.core import ShapedArray
from covector.extend import primitive
from covector.extend.core import Primitive
from covector.interpreters import ad, batching
from covector.testing import Sample, check_primitive

X = np.array([0.5, 1.0, 2.0], np.float32)
SAMPLES = [(X, X[::-1]), (np.float32(0.5), np.float32(2.0))]


class Product:
    """x * y by hand, each rule right."""

    def abstract_eval(self, x, y):
        return ShapedArray(x.shape, x.dtype, x.weak_type and y.weak_type)

    def ref(self, x, y):
        return x * y

    def jvp(self, primals, tangents):
        (x, y), (dx, dy) = primals, [ad.instantiate_zeros(t) for t in tangents]
        return self(x, y), lax.add(lax.mul(dx, y), lax.mul(x, dy))

    def transpose(self, ct, x, y):
        if ad.is_undefined_primal(x):
            return self(ct, y), None
        return None, self(x, ct)

    def vmap(self, axis, dims, x, y):
        front = [batching.bdim_at_front(v, d, axis.size) for v, d in zip((x, y), dims)]
        return self(*front), 0

    def emit(self, b, x, y):
        return b.op("multiply", x, y)


def test_right_rules():
    report = check_primitive(primitive(Product), SAMPLES)
    assert report.ok, str(report)
    assert report.missing == report.wrong == ()


def wrong(*checks, **rules):
    """The report on the product with some rules replaced."""
    return check_primitive(primitive(type("product", (Product,), rules)), SAMPLES, checks=checks)


def test_a_wrong_shape():
    report = wrong(
        "abstract eval", abstract_eval=lambda self, x, y: ShapedArray((*x.shape, 1), x.dtype)
    )
    assert not report.ok
    assert "abstract eval" in report.wrong


def test_a_wrong_dtype_of_evaluation():
    p = Primitive("wide")
    p.def_impl(lambda x: np.asarray(x, np.int32))
    p.def_abstract_eval(lambda x: x)
    row = check_primitive(p, [(X,)])["abstract eval"]
    assert row.status == "wrong"
    assert row.detail == (
        "wide(float32[3]): result 0 of evaluation, compared with abstract evaluation: the dtype "
        "is int32, but should be float32"
    )


def test_a_wrong_number():
    report = wrong("ref", "jit", "jvp", ref=lambda self, x, y: x * y + 0.001)
    assert report.wrong == ("ref",)
    assert "3 of 3 elements differ" in report["ref"].detail


def test_a_wrong_lowering_rule():
    p = Primitive("negated")
    p.def_impl(lambda x: -np.asarray(x))
    p.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
    cv.interpreters.mlir.register_lowering(
        p, cv.interpreters.mlir.lower_fun(lax.abs, multiple_results=False)
    )
    report = check_primitive(p, [(X,)])
    assert "jit" in report.wrong and "abstract eval" not in report.wrong


def test_a_wrong_derivative():
    def jvp(self, primals, tangents):
        out, t = Product.jvp(self, primals, tangents)
        return out, lax.mul(t, lax.full_like(t, 1.001))

    report = wrong("jvp", "vjp", jvp=jvp)
    assert "jvp" in report.wrong
    assert "vjp" not in report.wrong  # it is the transpose of the wrong derivative, all right


def test_a_derivative_that_forgets_an_operand():
    def jvp(self, primals, tangents):
        (x, y), (dx, _) = primals, tangents
        return self(x, y), lax.mul(ad.instantiate_zeros(dx), y)

    report = wrong("jvp", jvp=jvp)
    assert "jvp" in report.wrong


def test_a_derivative_of_the_wrong_type():
    def jvp(self, primals, tangents):
        out, t = Product.jvp(self, primals, tangents)
        return out, lax.convert_element_type(t, np.float16)

    assert "the tangent of result 0: the dtype is float16" in wrong("jvp", jvp=jvp)["jvp"].detail


def test_a_derivative_that_cannot_be_differentiated():
    def jvp(self, primals, tangents):
        fixed = tuple(lax.stop_gradient(x) for x in primals)
        return self(*primals), Product.jvp(self, fixed, tangents)[1]

    report = wrong("jvp", "vjp", "jvp of vjp", jvp=jvp)
    assert report["jvp"].status == report["vjp"].status == "ok"
    assert "jvp of vjp" in report.wrong


def test_a_wrong_transpose():
    def transpose(self, ct, x, y):
        if ad.is_undefined_primal(x):
            return self(ct, y), None
        return None, self(ct, ct)

    report = wrong("transpose", transpose=transpose)
    assert "transpose" in report.wrong
    assert "with respect to operand 1" in report["transpose"].detail


def test_a_transpose_that_forgets_a_cotangent():
    report = wrong("transpose", transpose=lambda self, ct, x, y: (None, None))
    assert "there is no cotangent of operand 0" in report["transpose"].detail


def test_a_wrong_vjp():
    @primitive
    class doubled:
        elementwise = True

        def decompose(self, x):
            return lax.add(x, x)

        def jvp(self, primals, tangents):
            return self(*primals), self(*tangents)

        def transpose(self, ct, x):
            return (ct,)

    report = check_primitive(doubled, [(X,)], checks=["jvp", "vjp", "transpose"])
    assert {"vjp", "transpose"} <= set(report.wrong) and "jvp" not in report.wrong


def test_a_batching_rule_that_takes_the_axis_for_the_first():
    report = wrong("vmap", vmap=lambda self, axis, dims, x, y: (self(x, y), 0))
    assert "vmap" in report.wrong


def test_a_batching_rule_that_is_right_for_operands_batched_alike():
    report = wrong("vmap", vmap=lambda self, axis, dims, x, y: (self(x, y), dims[0]))
    assert "vmap" in report.wrong


def test_a_rule_that_fails():
    def vmap(self, axis, dims, x, y):
        raise IndexError("no such dimension")

    row = wrong("vmap", vmap=vmap)["vmap"]
    assert row.status == "wrong"
    assert row.detail.endswith("IndexError: no such dimension")


def test_a_wrong_derivative_is_found_before_there_is_a_type_rule():
    p = Primitive("doubled")
    p.def_impl(lambda x: 2 * np.asarray(x))
    ad.defjvp(p, lambda t, x: 3 * t)
    report = check_primitive(p, [(X,)])
    assert report["abstract eval"].status == "missing"
    assert report["jvp"].status == "wrong"


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_primitives_of_32_bits_alone_are_checked_in_32_bits(factor):
    @primitive
    class halved:
        def decompose(self, x):
            return lax.mul(x, np.float32(0.5))

        def jvp(self, primals, tangents):
            return self(*primals), lax.mul(tangents[0], np.float32(0.5 * factor))

    report = check_primitive(halved, [(X,)], checks=["jvp", "vjp", "jvp of vjp"])
    assert report.ok == (factor == 1.0), str(report)
    assert report["jvp"].status == ("ok" if factor == 1.0 else "wrong")


# ---------------------------------------------------------------- the report


def test_missing_rules_are_not_wrong():
    p = Primitive("bare")
    p.def_impl(lambda x: 2 * np.asarray(x))
    p.def_abstract_eval(lambda x: x)
    report = check_primitive(p, [(X,)])
    assert report.ok
    assert {"jit", "jvp", "vmap"} <= set(report.missing)
    assert report["jvp"].detail == "Differentiation rule for 'bare' not implemented"
    assert report["ref"].status == "-"


def test_the_table():
    p = Primitive("bare")
    p.def_impl(lambda x: 2 * np.asarray(x))
    p.def_abstract_eval(lambda x: x)
    lines = str(check_primitive(p, [(X,), (X,)])).splitlines()
    assert lines[:2] == ["bare: nothing is wrong", "check          status   samples"]
    assert lines[3] == "abstract eval  ok             2"
    at = lines.index("jvp            missing        2")
    assert lines[at + 1] == "    Differentiation rule for 'bare' not implemented"
    assert sum("Differentiation rule" in line for line in lines) == 1  # told once
    assert (
        repr(wrong("ref", "jit", ref=lambda self, x, y: x))
        == "<Report on product: 1 wrong, 0 missing>"
    )


def test_parameters_come_with_samples():
    p = Primitive("scaled")
    p.def_impl(lambda x, *, by: np.asarray(x) * np.float32(by))
    p.def_abstract_eval(lambda x, *, by: ShapedArray(x.shape, x.dtype))
    report = check_primitive(p, [Sample((X,), dict(by=2.0))])
    assert report["abstract eval"].status == "ok"


def test_no_samples():
    with pytest.raises(ValueError) as error:
        check_primitive(Primitive("bare"))
    assert str(error.value) == (
        "[check_primitive] There are no samples of bare. Give some, as in `check_primitive(p, "
        "samples=[(x, y), ...])`, or give the primitive a method `samples(rng)` that yields "
        "`covector.testing.Sample`s."
    )
