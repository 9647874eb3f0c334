"""A primitive is given its rules one by one, as in the tutorial that JAX's users learn from.

`lesson` runs the whole course with either library.  Each step uses the primitive in a situation in
which a rule is missing, gives the rule, and uses it again; all calls of the user's functions and
all errors go into a log.  The logs of Covector and of JAX must be the same, line for line.
"""

import functools
import importlib

import numpy as np
import pytest
from jaxlib.mlir.dialects import stablehlo as hlo


class Lesson:
    """The course with one library; `log` is what happened."""

    def __init__(self, library):
        self.lib = importlib.import_module(library)
        for name in ("core", "lax", "extend.core", "interpreters.ad", "interpreters.batching"):
            setattr(self, name.split(".")[-1], importlib.import_module(f"{library}.{name}"))
        self.core = importlib.import_module(f"{library}.core")
        self.primitive = importlib.import_module(f"{library}.extend.core").Primitive
        self.mlir = importlib.import_module(f"{library}.interpreters.mlir")
        self.log = []
        self.p = self.primitive("multiply_add")

    # ---------------------------------------------------------------- watching

    def watched(self, fun):
        @functools.wraps(fun)
        def wrapper(*args):
            self.log.append(f"{fun.__name__} <- {self.describe(args)}")
            out = fun(*args)
            self.log.append(f"{fun.__name__} -> {self.describe(out)}")
            return out

        return wrapper

    def describe(self, x):
        """A value in words that do not depend on the library."""
        if isinstance(x, (tuple, list)):
            return f"({', '.join(map(self.describe, x))})"
        if x is None or isinstance(x, int):
            return str(x)
        if isinstance(x, self.core.Tracer):
            return repr(x)
        if isinstance(x, self.core.ShapedArray):
            return f"type {x}"
        if isinstance(x, (self.ad.Zero, self.ad.UndefinedPrimal)):
            return f"{type(x).__name__} {x.aval}"
        if hasattr(x, "avals_in"):
            return f"lowering ({', '.join(map(str, x.avals_in))}) to {x.avals_out[0]}"
        if "mlir" in type(x).__module__:
            return f"value {x.type}"
        return f"number {np.asarray(x, np.float32).tolist()}"

    def expect_missing(self, step, fun):
        self.log.append(step)
        with pytest.raises(NotImplementedError) as error:
            fun()
        self.log.append(str(error.value))

    def expect(self, step, fun, want):
        self.log.append(step)
        got = fun()
        for x, y in zip(got if isinstance(got, tuple) else (got,), want, strict=True):
            np.testing.assert_array_equal(np.asarray(x), y)

    # ---------------------------------------------------------------- the course

    def run(self):
        @self.watched
        def multiply_add(x, y, z):
            return self.p.bind(x, y, z)

        @self.watched
        def square_add(a, b):
            return multiply_add(a, a, b)

        self.multiply_add = multiply_add
        self.evaluation(square_add)
        self.compilation(square_add)
        self.forward(square_add)
        self.reverse(square_add)
        self.batches(square_add)
        return self.log

    def evaluation(self, square_add):
        self.expect_missing("evaluate", lambda: square_add(2.0, 10.0))

        @self.watched
        def impl(x, y, z):
            return np.add(np.multiply(x, y), z)

        assert self.p.def_impl(impl) is impl
        self.expect("evaluate", lambda: square_add(2.0, 10.0), [14.0])

    def compilation(self, square_add):
        jit = self.lib.jit
        self.expect_missing("jit", lambda: jit(square_add)(2.0, 10.0))

        @self.watched
        def abstract_eval(x, y, z):
            assert x.shape == y.shape == z.shape
            return self.core.ShapedArray(x.shape, x.dtype)

        assert self.p.def_abstract_eval(abstract_eval) is abstract_eval
        self.expect_missing("jit", lambda: jit(square_add)(2.0, 10.0))

        @self.watched
        def lowering(ctx, x, y, z):
            return [hlo.AddOp(hlo.MulOp(x, y), z).result]

        self.mlir.register_lowering(self.p, lowering, platform="cpu")
        self.expect("jit", lambda: jit(lambda x, y: square_add(x, y))(2.0, 10.0), [14.0])
        static = jit(lambda x, y: square_add(x, y), static_argnums=1)
        self.expect("jit with a static argument", lambda: static(2.0, 10.0), [14.0])

    def forward(self, square_add):
        jvp = self.lib.jvp
        point, direction = (2.0, 10.0), (1.0, 1.0)
        self.expect_missing("jvp", lambda: jvp(square_add, point, direction))

        @self.watched
        def value_and_jvp(primals, tangents):
            assert type(primals) is type(tangents) is tuple
            x, y, z = primals
            dx, dy, dz = [
                self.lax.full_like(x, 0) if type(t) is self.ad.Zero else t for t in tangents
            ]
            value = self.multiply_add(x, y, z)
            return value, self.multiply_add(dx, y, self.multiply_add(x, dy, dz))

        self.ad.primitive_jvps[self.p] = value_and_jvp
        assert self.ad.primitive_jvps[self.p] is value_and_jvp
        # x y + z at (2, 2, 10) along (1, 1, 1): 2 + 2 + 1
        self.expect("jvp", lambda: jvp(square_add, point, direction), [14.0, 5.0])
        compiled = self.lib.jit(lambda x, t: jvp(square_add, x, t))
        self.expect("jit of jvp", lambda: compiled(point, direction), [14.0, 5.0])

    def reverse(self, square_add):
        grad = self.lib.grad
        self.expect_missing("grad", lambda: grad(square_add)(2.0, 10.0))

        @self.watched
        def transpose(ct, x, y, z):
            undefined = [self.ad.is_undefined_primal(v) for v in (x, y, z)]
            if undefined[0]:
                assert undefined == [True, False, True]
                return self.multiply_add(ct, y, self.lax.full_like(y, 0)), None, ct
            assert undefined[1] and not undefined[0]
            return None, self.multiply_add(x, ct, self.lax.full_like(x, 0)), ct

        self.ad.primitive_transposes[self.p] = transpose
        self.expect("grad", lambda: grad(square_add)(2.0, 10.0), [4.0])
        self.expect("jit of grad", lambda: self.lib.jit(grad(square_add))(2.0, 10.0), [4.0])

    def batches(self, square_add):
        vmap = self.lib.vmap
        xs, ys = np.array([2.0, 3.0], np.float32), np.array([10.0, 20.0], np.float32)
        self.expect_missing("vmap", lambda: vmap(square_add)(xs, ys))

        @self.watched
        def batch(args, dims):
            assert dims[0] == dims[1] == dims[2]
            return self.multiply_add(*args), dims[0]

        self.batching.primitive_batchers[self.p] = batch
        self.expect("vmap", lambda: vmap(square_add)(xs, ys), [[14.0, 29.0]])
        compiled = self.lib.jit(vmap(square_add))
        self.expect("jit of vmap", lambda: compiled(xs, ys), [[14.0, 29.0]])


def comparable(log):
    """The log without what depends on when memory is reclaimed, and on how constants are traced.

    JAX writes the tangent's operations down a second time, on its way from the jvp rule to the
    result, and asks the type rule again for those types that it no longer remembers.  And the
    cotangent 1 with which `jit(grad)` begins is traced in JAX but a number in Covector.
    """
    lines, again = [], False
    for line in log:
        if line.startswith("value_and_jvp ->"):
            again = True
        elif not line.startswith("abstract_eval"):
            again = False
        if not again or not line.startswith("abstract_eval"):
            lines.append(line)
    start = lines.index("jit of grad")
    end = lines.index("vmap")
    lines[start:end] = [
        line.replace("number 1.0", "JitTracer(float32[])") for line in lines[start:end]
    ]
    return lines


@pytest.fixture(scope="module")
def ours():
    return Lesson("covector").run()


def test_every_rule_is_called_when_jax_calls_it(ours, jax):
    assert comparable(ours) == comparable(Lesson(jax.__name__).run())


def test_missing_rules_are_named_in_the_order_of_the_course(ours):
    missing = [line for line in ours if line.endswith("not implemented") or "not found" in line]
    assert missing == [
        "Evaluation rule for 'multiply_add' not implemented",
        "Abstract evaluation for 'multiply_add' not implemented",
        "MLIR translation rule for primitive 'multiply_add' not found for platform cpu",
        "Differentiation rule for 'multiply_add' not implemented",
        "Transpose rule (for reverse-mode differentiation) for 'multiply_add' not implemented",
        "Batching rule for 'multiply_add' not implemented",
    ]


def test_symbolic_zeros_and_undefined_primals_reach_the_rules(ours):
    (jvp,) = [
        line for line in ours[ours.index("grad") :][:6] if line.startswith("value_and_jvp <-")
    ]
    # b is not differentiated, so that the tangent of z is a Zero.
    assert jvp == (
        "value_and_jvp <- ((number 2.0, number 2.0, number 10.0), "
        "(Traced<~float32[]:JaxprTrace>, Traced<~float32[]:JaxprTrace>, Zero ~float32[]))"
    )
    transposes = [line for line in ours if line.startswith("transpose <-")]
    assert transposes[:2] == [
        "transpose <- (number 1.0, UndefinedPrimal ~float32[], number 2.0, "
        "UndefinedPrimal float32[])",
        "transpose <- (number 1.0, number 2.0, UndefinedPrimal ~float32[], number 0.0)",
    ]
