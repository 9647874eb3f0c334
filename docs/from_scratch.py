"""Covector from scratch: the whole architecture in one file, on NumPy alone.

Read it from top to bottom, it takes an hour; run it with `python docs/from_scratch.py`.  A section
is one idea, the code of that idea, and a run whose assertions would fail if the idea were wrong.

Given a Python function f, we want other programs made from it: its derivative, its batched form,
its compiled form, and any of these made from any other.  The design that gives them is a table.

                 shape   ref   jvp   transpose   vmap   emit
       sin         ×      ×     ×                 ×      ×
       mul         ×      ×     ×        ×        ×      ×
       cond        ×      ×     ×        ×        ×      ×

A row is a *primitive*: one class that holds everything known about one operation.  A column is a
*transformation*: one kind of `Trace`, which asks the rows for one rule each, and one entry point.
f is Python that calls rows, so whoever decides what a row does when called decides what f means.
"""

# fmt: off
from contextlib import contextmanager
from dataclasses import dataclass, make_dataclass
from functools import cache, partial, reduce
from importlib.util import find_spec
from itertools import count
from textwrap import indent

import numpy as np


# %% 1. Values, primitives, the current trace
# Calling a primitive computes nothing.  It tells the *current trace* "sin, of this x", and the
# trace answers.  To evaluate is one way to answer; to differentiate, to batch, to write down are
# others.  Which one is in force depends on where in the program we are, not on x: one variable.
class Trace:  # a meaning of the primitives, built on that of its parent, the trace it is made under
    def __init__(self, **state): vars(self).update(state, parent=current)
    def owns(self, x): return isinstance(x, Tracer) and x.trace is self
    def truth(self, x): raise TypeError(f"`if` on {x.aval}, whose value is not known: use `cond`")
class Evaluate(Trace):
    def process(self, prim, args, params): return prim.ref(*args, **params)
current = None
current = Evaluate()  # the meaning at the bottom: NumPy's

@contextmanager
def under(trace):  # the one way to change the current trace: for the length of a `with` block
    global current
    outer, current = current, trace
    try:
        yield trace
    finally:
        current = outer

# A value is a NumPy array or a `Tracer`, a stand-in in which one trace keeps what it has to know.
# Both have a type, called the abstract value or *aval*.  Our arrays hold float64 or bool, no more.
@dataclass(frozen=True)
class Aval:
    shape: tuple
    dtype: np.dtype
    weak_type = False
    def __str__(self):
        return f"{'bool' if is_bool(self) else 'f64'}[{','.join(map(str, self.shape))}]"
@dataclass(eq=False)
class Tracer:
    trace: Trace
    aval: Aval
    content: object = None  # what its trace knows of it, and nobody else looks at
    __array_ufunc__ = None  # makes NumPy leave `array * tracer` to `Tracer.__rmul__`
    def __bool__(self): return self.trace.truth(self)
    def __str__(self): return str(self.content)
    def __neg__(self): return neg(self)
    def __add__(self, other): return add(self, other)
    def __mul__(self, other): return mul(self, other)
    def __gt__(self, other): return gt(self, other)
    __radd__, __rmul__ = __add__, __mul__

def is_bool(x): return x.dtype.kind == "b"
def lift(x):  # numbers of Python become arrays
    return x if isinstance(x, Tracer) else np.asarray(x, bool if is_bool(np.asarray(x)) else float)
def typeof(x): return x.aval if isinstance(x, Tracer) else Aval(lift(x).shape, lift(x).dtype)
def avals(xs): return [typeof(x) for x in xs]

# A function returns one value, or a tuple of any other count.  So do primitives, and their rules:
# one convention, where a flag on each primitive would give us two of everything.
def many(result): return result if isinstance(result, tuple) else (result,)
def one(results): return results[0] if len(results) == 1 else tuple(results)
def each(f, *results): return one([f(*parts) for parts in zip(*map(many, results))])
def unzip(pairs): return tuple(zip(*pairs)) or ((), ())

# Now the rows.  Read `ref` today; come back to a row when a section asks it for another rule.
#   shape      types of the operands -> type of the result
#   ref        arrays -> array: what the primitive *is*, and what its other rules must agree with
#   jvp        operands, their tangents -> result, its tangent                          (section 2)
#   transpose  where linear: cotangent ct of the result -> cotangents of the operands   (section 6)
#   vmap       operands with a batch axis, at `dims` -> result with one, and its place  (section 3)
#   emit       operands -> text for the compiler; mostly a template, `hlo`              (section 9)
# Rules call rows, so a rule can itself be given any meaning.  That is why derivatives of
# derivatives, batches of derivatives and compiled batches of them will need no code of their own.
class Primitive:
    def __call__(self, *args, **params): return current.process(self, [*map(lift, args)], params)
    def partial_eval(self, tape, args, params): return tape.record(self, args, params)  # section 7
    def emit(self, b, out, *args, **params):
        text = self.hlo.format(*args, **{k: list(v) for k, v in params.items()})
        return b.op(f"stablehlo.{text}", out, *args)

class Elementwise(Primitive):  # number by number, after repeating operands to the largest shape
    def __call__(self, *args):
        shape = max((typeof(x).shape for x in args), key=len)
        return super().__call__(*[repeat(x, shape) for x in args])
    def shape(self, *avals): return avals[-1]
    def vmap(self, size, args, dims): return self(*map(partial(front, size), args, dims)), 0
class Unary(Elementwise):  # has a `derivative`: of a tangent t, the operand x and the result y
    def jvp(self, primals, tangents):
        return (y := self(*primals)), self.derivative(*tangents, *primals, y)
class Multilinear(Primitive):  # linear in each operand: d p(x, y) = p(dx, y) + p(x, dy), any arity
    def jvp(self, primals, tangents, **params):
        terms = [self(*primals[:i], t, *primals[i + 1:], **params)
                 for i, t in enumerate(tangents) if not isinstance(t, Zero)]
        return self(*primals, **params), reduce(add, terms)

class Sin(Unary):
    name, hlo, ref = "sin", "sine {}", np.sin
    def derivative(self, t, x, y): return mul(t, cos(x))
class Cos(Unary):
    name, hlo, ref = "cos", "cosine {}", np.cos
    def derivative(self, t, x, y): return neg(mul(t, sin(x)))
class Exp(Unary):
    name, hlo, ref = "exp", "exponential {}", np.exp
    def derivative(self, t, x, y): return mul(t, y)
class Neg(Elementwise, Multilinear):
    name, hlo, ref = "neg", "negate {}", np.negative
    def transpose(self, ct, x): return (neg(ct),)
class Mul(Elementwise, Multilinear):
    name, hlo, ref = "mul", "multiply {}, {}", np.multiply
    def transpose(self, ct, x, y):
        return (mul(ct, y), None) if isinstance(x, Undefined) else (None, mul(x, ct))
class Add(Elementwise):  # linear in the pair of its operands, not in each: d (x + y) = dx + dy
    name, hlo, ref = "add", "add {}, {}", np.add
    def jvp(self, primals, tangents):
        return self(*primals), reduce(add, [t for t in tangents if not isinstance(t, Zero)])
    def transpose(self, ct, x, y): return ct, ct
class Gt(Elementwise):  # x > y: constant but for jumps, so its tangent is zero
    name, hlo, ref = "gt", "compare GT, {}, {}, FLOAT", np.greater
    def shape(self, x, y): return Aval(x.shape, np.dtype(bool))
    def jvp(self, primals, tangents): return (y := self(*primals)), Zero(typeof(y))
class SelectN(Elementwise):  # x where `which` is false, y where it is true: linear in the pair x, y
    name, hlo = "select_n", "select {0}, {2}, {1}"
    def ref(self, which, x, y): return np.where(which, y, x)
    def jvp(self, primals, tangents):
        return self(*primals), self(primals[0], *map(instantiate, tangents[1:]))
    def transpose(self, ct, which, x, y): return None, self(which, ct, 0.0), self(which, 0.0, ct)

class Transpose(Multilinear):  # permute the axes; the adjoint permutes them back
    name, hlo = "transpose", "transpose {}, dims = {permutation}"
    def shape(self, x, *, permutation): return Aval(tuple(x.shape[d] for d in permutation), x.dtype)
    def ref(self, x, *, permutation): return np.transpose(x, permutation)
    def transpose(self, ct, x, *, permutation):
        return (self(ct, permutation=tuple(map(permutation.index, range(len(permutation))))),)
    def vmap(self, size, args, dims, *, permutation):
        return self(front(size, *args, *dims), permutation=(0, *shift(permutation))), 0

class BroadcastInDim(Multilinear):  # repeat x along the new axes, all but `broadcast_dimensions`
    name, hlo = "broadcast_in_dim", "broadcast_in_dim {}, dims = {broadcast_dimensions}"
    def shape(self, x, *, shape, broadcast_dimensions): return Aval(shape, x.dtype)
    def ref(self, x, *, shape, broadcast_dimensions):
        return np.broadcast_to(np.expand_dims(x, others(broadcast_dimensions, shape)), shape)
    def transpose(self, ct, x, *, shape, broadcast_dimensions):
        return (reduce_sum(ct, axes=others(broadcast_dimensions, shape)),)
    def vmap(self, size, args, dims, *, shape, broadcast_dimensions):
        x, kept = front(size, *args, *dims), (0, *shift(broadcast_dimensions))
        return self(x, shape=(size, *shape), broadcast_dimensions=kept), 0

class ReduceSum(Multilinear):  # sum over `axes`; it and BroadcastInDim are adjoint
    name, hlo = "reduce_sum", "reduce({} init: {}) applies stablehlo.add across dimensions = {axes}"
    def shape(self, x, *, axes):
        return Aval(tuple(x.shape[d] for d in others(axes, x.shape)), x.dtype)
    def ref(self, x, *, axes): return np.sum(x, axis=axes)
    def transpose(self, ct, x, *, axes):
        kept = others(axes, x.aval.shape)
        return (broadcast_in_dim(ct, shape=x.aval.shape, broadcast_dimensions=kept),)
    def vmap(self, size, args, dims, *, axes):
        return self(front(size, *args, *dims), axes=shift(axes)), 0
    def emit(self, b, out, x, *, axes): return super().emit(b, out, x, b.operand(0.0), axes=axes)

neg, mul, add, gt, select_n = Neg(), Mul(), Add(), Gt(), SelectN()
sin, cos, exp = Sin(), Cos(), Exp()
permute, broadcast_in_dim, reduce_sum = Transpose(), BroadcastInDim(), ReduceSum()
def shift(axes): return tuple(d + 1 for d in axes)
def others(axes, shape): return tuple(d for d in range(len(shape)) if d not in axes)
def repeat(x, shape):  # with more axes in front: a number becomes a vector, a vector equal rows
    had = typeof(x).shape
    kept = tuple(range(len(shape) - len(had), len(shape)))
    if had != tuple(shape[d] for d in kept):
        raise TypeError(f"shapes {had} and {shape} do not agree in their last axes: reshape one")
    return x if had == shape else broadcast_in_dim(x, shape=shape, broadcast_dimensions=kept)

def dot(a, x): return reduce_sum(mul(a, x), axes=(len(typeof(a).shape) - 1,))  # a: matrix or row
def wave(t): return exp(-t) * sin(t)      # a damped wave, number to number
def spiral(x): return x * dot(x, sin(x))  # vector to vector; both will go with us
assert np.isclose(wave(2.0), np.exp(-2.0) * np.sin(2.0))

# %% 2. Derivatives, forward: jvp
# The derivative of f at x is a linear map: how f(x) moves when x moves a little.  By the chain rule
# the maps of f's steps compose in the order of the steps, so each value can have its tangent with
# it from the start.  Types: `T a` is the type of tangents of an a, `a -o b` that of linear maps.
Zero = make_dataclass("Zero", ["aval"])  # a tangent that is zero, and costs nothing
def instantiate(t):
    return repeat(np.zeros((), t.aval.dtype), t.aval.shape) if isinstance(t, Zero) else t

class JVPTrace(Trace):
    def process(self, prim, args, params):
        primals, tangents = unzip(map(self.unpair, args))
        with under(self.parent):
            if all(isinstance(t, Zero) for t in tangents):
                return prim(*primals, **params)
            return each(self.pair, *prim.jvp(primals, tangents, **params))
    def pair(self, x, t): return x if isinstance(t, Zero) else Tracer(self, typeof(x), (x, t))
    def unpair(self, x): return x.content if self.owns(x) else (x, Zero(typeof(x)))
    def truth(self, x): return bool(x.content[0])  # Python may branch if the primal has a value

def jvp(f, primals, tangents):  # (a -> b) -> (a, T a) -> (b, T b)
    with under(JVPTrace()) as trace:
        ys, dys = unzip(map(trace.unpair, many(f(*map(trace.pair, primals, tangents)))))
    return one(ys), one([instantiate(dy) for dy in dys])
def derivative(f): return lambda x: jvp(f, (x,), (1.0,))[1]

assert np.isclose(derivative(wave)(2.0), np.exp(-2.0) * (np.cos(2.0) - np.sin(2.0)))
assert np.isclose(derivative(derivative(wave))(2.0), -2.0 * np.exp(-2.0) * np.cos(2.0))
# Two things keep nested derivatives apart: a tracer is tagged with its trace, and a rule runs under
# the parent.  In d/dx [x * d/dy (x + y)] the inner trace meets x, does not own it, and takes it for
# what it is to d/dy, a constant; so d/dy (x + y) is 1, and the whole is 1.  Without the tag the
# tangents of x and of y would be added, 1 + 1, and the answer would be 2.
assert derivative(lambda x: x * derivative(lambda y: x + y)(1.0))(1.0) == 1.0

# %% 3. Many at once: vmap
# n values of one type are one value with an axis more.  Each rule says where that axis comes out.
# An operand without it (its dim is None) is the same for all n, and repeated only if a rule must.
class BatchTrace(Trace):
    def process(self, prim, args, params):
        values, dims = unzip(map(self.unpair, args))
        with under(self.parent):
            if all(d is None for d in dims):
                return prim(*values, **params)
            return each(self.pair, *prim.vmap(self.size, values, dims, **params))
    def pair(self, x, d):  # f sees the type of one of the n
        t = typeof(x)
        return x if d is None else Tracer(self, Aval(t.shape[:d] + t.shape[d+1:], t.dtype), (x, d))
    def unpair(self, x): return x.content if self.owns(x) else (x, None)
def moveaxis(x, source, target):
    order = list(others((source,), typeof(x).shape))
    order.insert(target, source)
    return x if order == sorted(order) else permute(x, permutation=tuple(order))
def front(size, x, dim):  # x with its batch axis first
    return repeat(x, (size, *typeof(x).shape)) if dim is None else moveaxis(x, dim, 0)

def vmap(f, in_axes=0, out_axes=0, size=None):  # (a -> b) -> (n=>a -> n=>b)
    def mapped(*args):
        dims = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        sizes = {typeof(x).shape[d] for x, d in zip(args, dims) if d is not None} | {size} - {None}
        if len(sizes) != 1:
            raise TypeError(f"[vmap] the mapped axes have sizes {sizes}: give them one size")
        with under(BatchTrace(size=(n := sizes.pop()))) as trace:
            ys = f(*map(trace.pair, args, dims))
        return each(lambda y: moveaxis(front(n, *trace.unpair(y)), 0, out_axes), ys)
    return mapped
a, b = np.linspace(-1.0, 1.0, 4), np.array([0.3, 1.1, 2.0])
assert np.allclose(vmap(lambda x: vmap(lambda y: x * y)(b))(a), np.outer(a, b))
cube = np.multiply.outer(b, np.outer(a, b))
assert np.allclose(vmap(vmap(wave, 1, 1), in_axes=2, out_axes=2)(cube), wave(cube))
# spiral(x) = s x with s = x . sin x: its derivative is dx -> s dx + x (sin x + x cos x) . dx.
J = b @ np.sin(b) * np.eye(3) + np.outer(b, np.sin(b) + b * np.cos(b))
assert np.allclose(vmap(lambda v: jvp(spiral, (b,), (v,))[1], out_axes=1)(np.eye(3)), J)

# %% 4. Programs as data: the jaxpr
# To compile f, or to run it backwards, it must be written down.  The trace that does so answers
# each call with a new variable (a tracer) and notes an equation.  Loops and calls of Python are
# gone through on the way; what is left is a list of equations, typed by `shape` rules: a *jaxpr*.
Eqn = make_dataclass("Eqn", ["prim", "invars", "params", "outvars"], eq=False)
Jaxpr = make_dataclass("Jaxpr", ["invars", "eqns", "outvars"], eq=False)  # a key, by identity
class JaxprTrace(Trace):
    def __init__(self): super().__init__(eqns=[], consts={})
    def inputs(self, avals): return [Tracer(self, aval) for aval in avals]
    def record(self, prim, args, params):
        inputs = [self.atom(x) for x in args]
        outs = each(partial(Tracer, self), prim.shape(*avals(inputs), **params))
        self.eqns.append(Eqn(prim, inputs, params, many(outs)))
        return outs
    process = record
    def atom(self, x):  # variables and numbers stand for themselves; all else is one more input
        if self.owns(x) or not (isinstance(x, Tracer) or x.shape):
            return x
        return self.consts.setdefault(id(x), (Tracer(self, typeof(x)), x))[0]
    def to_jaxpr(self, ins, outs):
        outs = tuple(self.atom(lift(y)) for y in outs)
        variables, values = unzip(self.consts.values())
        return Jaxpr((*variables, *ins), self.eqns, outs), values

def stage(f, *avals):  # (a -> b) -> the jaxpr of a function (c, a) -> b, and what f closes over: c
    with under(JaxprTrace()) as trace:
        outs = many(f(*(ins := trace.inputs(avals))))
    return trace.to_jaxpr(ins, outs)

def eval_jaxpr(jaxpr, *args):  # a function again: the equations go to the current trace
    env = dict(zip(jaxpr.invars, args, strict=True))
    def read(atom): return env[atom] if isinstance(atom, Tracer) else atom
    for eqn in jaxpr.eqns:
        outs = eqn.prim(*map(read, eqn.invars), **eqn.params)
        env.update(zip(eqn.outvars, many(outs), strict=True))
    return one([read(atom) for atom in jaxpr.outvars])

def check_jaxpr(jaxpr, *types):  # from the types of inputs, rows infer the others
    def written(jaxpr): return [avals(jaxpr.invars), *[avals(eqn.outvars) for eqn in jaxpr.eqns]]
    inferred, _ = stage(partial(eval_jaxpr, jaxpr), *types)
    if written(inferred) != written(jaxpr):
        raise TypeError(f"inferred the types of\n{show(inferred)}\nbut found\n{show(jaxpr)}")

def show(jaxpr, names=None):  # as JAX prints it: inputs, equations, outputs; parameters in brackets
    names = {} if names is None else names
    def bind(vs): return " ".join(f"{names.setdefault(v, letter(len(names)))}:{v.aval}" for v in vs)
    def use(atom): return names[atom] if isinstance(atom, Tracer) else f"{atom}:{typeof(atom)}"
    def param(value):
        jaxprs = [show(v, names) for v in many(value) if isinstance(v, Jaxpr)]
        return box("(", jaxprs, ")") if jaxprs[1:] else jaxprs[0] if jaxprs else str(value)
    lines = [f"{{ lambda ; {bind(jaxpr.invars)}. let"]
    for eqn in jaxpr.eqns:
        left, params = bind(eqn.outvars), [f"{k}={param(v)}" for k, v in eqn.params.items()]
        inner = box("[", params, "]") if "{" in str(params) else f"[{' '.join(params)}]"
        right = " ".join([eqn.prim.name + inner * bool(params), *map(use, eqn.invars)])
        lines.append(indent(f"{left} = {right}", "    "))
    outs = ", ".join(map(use, jaxpr.outvars)) + "," * (len(jaxpr.outvars) == 1)
    return "\n".join([*lines, f"  in ({outs}) }}"])
def box(left, lines, right): return left + "\n" + indent("\n".join(lines), "  ") + "\n" + right
def letter(n): return (letter(n // 26) if n > 25 else "") + chr(ord("a") + n % 26)
jaxpr, _ = stage(wave, typeof(2.0))
check_jaxpr(jaxpr, typeof(2.0))
assert eval_jaxpr(jaxpr, 2.0) == wave(2.0)
assert show(jaxpr) == """{ lambda ; a:f64[]. let
    b:f64[] = neg a
    c:f64[] = exp b
    d:f64[] = sin a
    e:f64[] = mul c d
  in (e,) }"""

# %% 5. Derivatives, written down: linearize
# The rules of jvp compute in two strands: values from values, and tangents from tangents, linearly.
# So the first can be run at once, and the second written down, to be run later on any tangent, with
# the values that it needs of the first: its *residuals*.  That takes no new rule, only another
# parent for jvp: a trace that does what is known, and notes the rest.
class PartialTrace(JaxprTrace):
    def process(self, prim, args, params):
        if any(map(self.owns, args)):
            return prim.partial_eval(self, args, params)
        with under(self.parent):
            return prim(*args, **params)

def linearize(f, *primals):  # (a -> b) -> a -> (b, T a -o T b)
    with under(PartialTrace()) as tape:
        ys, dys = jvp(f, primals, dxs := tape.inputs(avals(primals)))
    jaxpr, residuals = tape.to_jaxpr(dxs, many(dys))
    return ys, partial(eval_jaxpr, jaxpr, *residuals)
y, push = linearize(wave, 2.0)
print(show(push.args[0]))  # six equations, all of them linear in a
assert y == wave(2.0) and np.isclose(push(1.0), derivative(wave)(2.0))

# %% 6. Derivatives, backwards: transpose, vjp, grad
# A linear map T a -o T b gives the columns of its matrix J; a gradient is a row.  So turn the map
# around: the transpose takes a *cotangent* ct of the result to one of the input, and is defined by
#     <ct, J v> = <J^T ct, v>   for all v.
# Rows know their own transpose; of a list of equations, (A B)^T = B^T A^T: go through it from the
# end.  A variable that is used twice, v -> (A v, B v), gets both contributions, since
# <c, A v> + <d, B v> = <A^T c + B^T d, v>.  Where in f a value fans out, cotangents add up.
Undefined = make_dataclass("Undefined", ["aval"])  # a linear operand: it has a type, and no value
def backward_pass(jaxpr, args, cts):  # (r, a -o b), r, b -> a.   In args the a's are Undefined
    env, ct = dict(zip(jaxpr.invars, args, strict=True)), {}
    def value(x): return env.get(x, Undefined(x.aval)) if isinstance(x, Tracer) else x
    def receive(atoms, cts):
        for atom, c in zip(atoms, cts, strict=True):
            if isinstance(value(atom), Undefined) and not isinstance(c, Zero):
                ct[atom] = add(ct[atom], c) if atom in ct else c
    receive(jaxpr.outvars, cts)
    for eqn in reversed(jaxpr.eqns):
        if any(v in ct for v in eqn.outvars):
            c = one([ct.pop(v, Zero(v.aval)) for v in eqn.outvars])
            receive(eqn.invars, eqn.prim.transpose(c, *map(value, eqn.invars), **eqn.params))
    linear = [v for v in jaxpr.invars if isinstance(value(v), Undefined)]
    return one([instantiate(ct.get(v, Zero(v.aval))) for v in linear])

def transpose(linear):  # (a -o b) -> (b -o a)
    jaxpr, *residuals = linear.args
    args = (*residuals, *map(Undefined, avals(jaxpr.invars[len(residuals):])))
    return lambda *cts: backward_pass(jaxpr, args, cts)
def vjp(f, *primals):  # (a -> b) -> a -> (b, T b -o T a)
    ys, push = linearize(f, *primals)
    return ys, transpose(push)
def grad(f):  # (a -> R) -> (a -> T a), in the first argument
    def gradient(x, *rest):
        y, pull = vjp(lambda x: f(x, *rest), x)
        if typeof(y).shape:
            raise TypeError(f"[grad] f returned {typeof(y)}, not one number: sum it, or use `vjp`")
        return pull(1.0)
    return gradient
_, pull = vjp(spiral, b)
assert np.allclose(vmap(pull)(np.eye(3)), J)  # rows, where jvp gave columns
assert np.isclose(grad(grad(wave))(2.0), derivative(derivative(wave))(2.0))
# The values were computed on the way, so they were there when Python asked for them:
def steep(x): return x * x if x > 1.0 else x
assert (grad(steep)(0.5), grad(steep)(3.0)) == (1.0, 6.0)

# %% 7. Jaxprs inside jaxprs: jit
# `jit(f)` calls a jaxpr as one operation, which can be compiled as a whole.  It is a row like the
# others, and its rules transform the jaxpr that it carries: the jvp of a call is a call of the jvp.
# To transform a jaxpr is to stage the transformed `eval_jaxpr`, once: the results are cached.
def halves(xs): return xs[:len(xs) // 2], xs[len(xs) // 2:]
@cache
def jvp_jaxpr(jaxpr):  # (a -> b)   =>   (a, T a) -> (b, T b)
    def f(*args):
        ys, dys = jvp(partial(eval_jaxpr, jaxpr), *halves(args))
        return (*many(ys), *many(dys))
    return stage(f, *avals(jaxpr.invars), *avals(jaxpr.invars))[0]
@cache
def vmap_jaxpr(jaxpr, size, dims, types):  # (a -> b)   =>   n=>a -> n=>b, for these dims and types
    return stage(vmap(partial(eval_jaxpr, jaxpr), dims, 0, size), *types)[0]
@cache
def transpose_jaxpr(jaxpr, linear):  # (r, a -o b)   =>   (r, b) -> a.   linear[i]: is input i an a?
    def f(*args):
        args = iter(args)
        ins = [Undefined(v.aval) if is_a else next(args) for v, is_a in zip(jaxpr.invars, linear)]
        return backward_pass(jaxpr, ins, tuple(args))
    r = [v for v, is_a in zip(jaxpr.invars, linear) if not is_a]
    return stage(f, *avals(r), *avals(jaxpr.outvars))[0]

# A tape gets a call from the call's own jvp, (a, T a) -> (b, T b), neither known nor linear.  So it
# is split in two calls, one for the values, now, and one for the tangents, later, with residuals r
# from the first.  To split is to linearize once more, over a trace that stages.
@cache
def partial_eval_jaxprs(bodies):  # (a, T a) -> (b, T b)   =>   a -> (b, r)   and   (r, T a) -> T b
    nows, laters = [], []
    for body in bodies:
        types, tangent_types = halves(avals(body.invars))
        with under(JaxprTrace()) as now, under(PartialTrace()) as later:
            xs, dxs = now.inputs(types), later.inputs(tangent_types)
            ys, dys = halves(many(eval_jaxpr(body, *xs, *dxs)))
        nows.append((now, xs, ys))
        laters.append(later.to_jaxpr(dxs, dys))
    linear, residuals = unzip(laters)
    def padded(now, xs, ys, own):  # r has those of all bodies; of a body that is not run, zeros
        with under(now):
            r = [x if rs is own else instantiate(Zero(typeof(x))) for rs in residuals for x in rs]
        return now.to_jaxpr(xs, (*ys, *r))[0]
    return [padded(*n, own) for n, own in zip(nows, residuals)], share(linear, residuals)
def share(jaxprs, consts):  # let each jaxpr take the constants of all, before its other inputs
    shared = [v for j, c in zip(jaxprs, consts) for v in j.invars[:len(c)]]
    return [Jaxpr((*shared, *j.invars[len(c):]), j.eqns, j.outvars) for j, c in zip(jaxprs, consts)]

class HigherOrder(Primitive):  # runs one of its bodies; the first `lead` operands say which one
    lead = 0
    def over(self, params, transform, *args):  # params with each body, a jaxpr, transformed
        return params | {self.slot: one([transform(j, *args) for j in many(params[self.slot])])}
    def shape(self, *types, **params): return one(avals(many(params[self.slot])[0].outvars))
    def jvp(self, primals, tangents, **params):
        args = (*primals, *map(instantiate, tangents[self.lead:]))
        return map(one, halves(self(*args, **self.over(params, jvp_jaxpr))))
    def partial_eval(self, tape, args, params):
        lead, (xs, dxs) = args[:self.lead], halves(args[self.lead:])
        now, later = partial_eval_jaxprs(bodies := many(params[self.slot]))
        with under(tape.parent):
            outs = many(self(*lead, *xs, **params | {self.slot: one(now)}))
        n = len(bodies[0].outvars) // 2
        dys = tape.record(self, (*lead, *outs[n:], *dxs), params | {self.slot: one(later)})
        return (*outs[:n], *many(dys))
    def transpose(self, ct, *args, **params):
        linear = tuple(isinstance(x, Undefined) for x in args[self.lead:])
        known = [x for x in args if not isinstance(x, Undefined)]
        transposed = self.over(params, transpose_jaxpr, linear)
        cts = iter(many(self(*known, *map(instantiate, many(ct)), **transposed)))
        return tuple(next(cts) if isinstance(x, Undefined) else None for x in args)
    def vmap(self, size, args, dims, **params):
        rest = dims[self.lead:], tuple(avals(args[self.lead:]))
        ys = self(*args, **self.over(params, vmap_jaxpr, size, *rest))
        return ys, each(lambda y: 0, ys)

class Jit(HigherOrder):
    name, slot, run = "jit", "jaxpr", staticmethod(eval_jaxpr)
    def ref(self, *args, name, jaxpr): return self.run(jaxpr, *args)
    def emit(self, b, out, *args, name, jaxpr): return eval_jaxpr(jaxpr, *args)
call = Jit()
def jit(f):  # (a -> b) -> (a -> b), where f is gone through once for each type a
    staged = cache(partial(stage, f))
    def compiled(*args):
        jaxpr, consts = staged(*avals(args))
        return call(*consts, *args, name=getattr(f, "__name__", "f"), jaxpr=jaxpr)
    return compiled

runs = []
def noted(t): return runs.append(t) or wave(t)
f = jit(noted)
print(show(stage(grad(f), typeof(2.0))[0]))  # two calls, with the residuals between them
for slope in (grad(f), jit(grad(f)), derivative(f), jit(grad(jit(f)))):
    assert np.isclose(slope(2.0), derivative(wave)(2.0))
    assert np.isclose(grad(slope)(2.0), derivative(derivative(wave))(2.0))
assert len(runs) == 1

# %% 8. Choices: cond
# Python's `if` wants a value.  Under jit or vmap there is none, so both branches go into the jaxpr,
# and the rules are those of a call.  But where vmap makes n predicates of one, each of the n has a
# choice of its own: both branches are computed for all of them, and `select_n` picks.
class Cond(HigherOrder):
    name, slot, lead = "cond", "branches", 1
    def ref(self, pred, *args, branches): return eval_jaxpr(branches[int(pred)], *args)
    def vmap(self, size, args, dims, *, branches):
        if dims[0] is None:
            return super().vmap(size, args, dims, branches=branches)
        cases = [vmap(partial(eval_jaxpr, j), dims[1:], 0, size)(*args[1:]) for j in branches]
        ys = each(partial(vmap(select_n, (dims[0], 0, 0)), args[0]), *cases)
        return ys, each(lambda y: 0, ys)
    def emit(self, b, out, pred, *args, branches):
        no, yes = (b.region(body, args, "stablehlo.return") for body in branches)
        return b.op(f'"stablehlo.if"({pred}) ({{\n{yes}\n}}, {{\n{no}\n}})', out, pred)
choose = Cond()
def cond(pred, on_true, on_false, *args):  # (bool, a -> b, a -> b, a) -> b
    jaxprs, consts = unzip([stage(f, *avals(args)) for f in (on_false, on_true)])
    if avals(jaxprs[0].outvars) != avals(jaxprs[1].outvars):
        raise TypeError("[cond] branches of two types:\n" + "\n".join(map(show, jaxprs)))
    return choose(pred, *sum(consts, ()), *args, branches=tuple(share(jaxprs, consts)))

def well(x): return cond(dot(x, x) > 1.0, lambda x: dot(x, sin(x)), lambda x: exp(-dot(x, x)), x)
inside, outside = 0.2 * b, b
def batch(x): return np.stack([inside, outside, x])
def last(x): return vmap(grad(well))(batch(x))[2]
def last_of_sum(x): return grad(lambda xs: reduce_sum(vmap(well)(xs), axes=(0,)))(batch(x))[2]
for slope in (grad(well), jit(grad(well)), grad(jit(well)), last, last_of_sum):
    assert np.allclose(slope(inside), -2.0 * inside * np.exp(-inside @ inside))
    assert np.allclose(slope(outside), np.sin(outside) + outside * np.cos(outside))

# %% 9. Another language: emit
# The last trace answers with *names*, and writes the line of StableHLO that computes what it names.
# XLA compiles such text.  If the package jaxlib is there, `jit` runs what comes of it from now on.
def tensor(t): return f"tensor<{'x'.join([*map(str, t.shape), 'i1' if is_bool(t) else 'f64'])}>"
def tensors(xs): return ", ".join(map(tensor, avals(xs)))

class EmitTrace(Trace):
    def __init__(self): super().__init__(lines=[], fresh=map("%{}".format, count()))
    def process(self, prim, args, params):
        out = prim.shape(*avals(args), **params)
        return prim.emit(self, out, *map(self.operand, args), **params)
    def operand(self, x):
        if self.owns(x):
            return x
        t = typeof(x)
        number = str(x).lower() if is_bool(t) else np.format_float_scientific(x, trim="0")
        return self.op(f'"stablehlo.constant"() {{value = dense<{number}> : {tensor(t)}}}', t)
    def op(self, text, out, *args):
        name, n = next(self.fresh), len(many(out))
        outs = [Tracer(self, t, name + f"#{i}" * (n > 1)) for i, t in enumerate(many(out))]
        types = f"({tensors(args)}) -> ({tensors(outs)})"
        self.lines.append(f"{name}{f':{n}' * (n > 1)} = {text} : {types}")
        return one(outs)
    def region(self, jaxpr, args, end):
        outer, self.lines = self.lines, []
        outs = [self.operand(y) for y in many(eval_jaxpr(jaxpr, *args))]
        self.lines.append(f"{end} {', '.join(map(str, outs))} : {tensors(outs)}")
        inner, self.lines = self.lines, outer
        return indent("\n".join(inner), "  ")

def lower(jaxpr):  # a jaxpr -> its text in StableHLO
    with under(EmitTrace()) as b:
        args = [Tracer(b, v.aval, f"%arg{i}") for i, v in enumerate(jaxpr.invars)]
        body = b.region(jaxpr, args, "return")
    ins = ", ".join(f"{x}: {tensor(x.aval)}" for x in args)
    return f"func.func @main({ins}) -> ({tensors(jaxpr.outvars)}) {{\n{body}\n}}"
def xla():  # a function like eval_jaxpr, which compiles a jaxpr at its first run
    import jaxlib.xla_client as xc
    from jaxlib import _jax
    client = xc.make_cpu_client()
    cpu = client.local_devices()[:1]
    devices = _jax.DeviceList(tuple(cpu))
    place = _jax.GSPMDSharding(devices, xc.HloSharding.replicate())
    def put(x): return xc.batched_device_put(typeof(x), place, [x], cpu, True, enable_x64=True)
    @cache
    def load(jaxpr): return client.compile_and_load(lower(jaxpr), devices, xc.CompileOptions())
    def run(jaxpr, *args):
        outs = load(jaxpr).execute_sharded([put(x) for x in args])
        return one([np.asarray(y[0]) for y in outs.disassemble_into_single_device_arrays()])
    return run

print(lower(stage(grad(wave), typeof(2.0))[0]))
if find_spec("jaxlib"):
    Jit.run = staticmethod(xla())
assert jit(lambda t: 0.1 * t)(1.0) == 0.1 and np.isclose(jit(wave)(2.0), wave(2.0))

# %% 10. All of it at once
# Any stack of transformations, on a function that has everything in it, against plain numbers.
rng = np.random.default_rng(0)
w, points = rng.normal(size=(3, 3)), rng.normal(size=(6, 3))
def energy(x): return wave(well(dot(w, x))) + dot(spiral(cos(x)), x)
for f in (energy, jit(energy), jit(lambda x: dot(grad(energy)(x), x))):
    for x in points:  # <grad f, v> is the slope of f in direction v
        v, h = rng.normal(size=3), 1e-5
        assert np.isclose(dot(grad(f)(x), v), (f(x + h * v) - f(x - h * v)) / (2 * h), rtol=1e-5)
assert np.allclose(jit(vmap(grad(energy)))(points), [grad(energy)(x) for x in points])

# What the library adds, and where each section of this page lives in it, is in ARCHITECTURE.md.
