"""The gamma distribution, differentiable in its parameter, and what is made of it.

A sample x of the distribution with parameter a is a function of a and of the random numbers behind
it.  Along its graph the distribution function F(x, a) is constant, so that its derivative is
dx/da = -(dF/da) / (dF/dx), which `random_gamma_grad` computes ("implicit reparametrization":
M. Figurnov, S. Mohamed, A. Mnih, NeurIPS 2018).
"""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from typing import Any

import numpy as np

from ..api.vectorize import vmap
from ..base import config, random_errors
from ..base.dtypes import finfo
from ..control.loops import while_loop
from ..control.map import map as map_in_turn
from ..control.random_keys import random_split_p
from ..core.array import Array
from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.zeros import Zero
from ..ops.arithmetic import div, mul
from ..ops.arithmetic import max as larger
from ..ops.comparison import eq
from ..ops.conversion import convert
from ..ops.exponential import exp, log
from ..ops.full import full_like
from ..ops.identities import stop_gradient
from ..ops.linear import bring_to, constant_like, reshape
from ..ops.powers import pow, sqrt
from ..ops.random_keys import KeyOp, check_keys
from ..ops.reductions import reduce_max, reduce_sum
from ..ops.select import select
from ..ops.shaping import broadcast_to
from ..ops.special_gamma import random_gamma_grad
from ..transforms.stage import stage_closed
from .arguments import (
    check_shape,
    float_dtype,
    parametrized,
    placed,
    sample_shape,
    shape_or_none,
    single_key,
)
from .continuous import exponential
from .keys import new_keys
from .normal import normal
from .program import program
from .threefry import threefry_prng_impl
from .uniform import rademacher, uniform

# ---------------------------------------------------------------- one sample


def _gamma_one(key: Any, alpha: Any, log_space: bool) -> Any:
    """A sample, or its logarithm, for one key and one parameter.

    For a >= 1, with d = a - 1/3 and c = 1 / (3 sqrt(d)), a normal number x gives v = (1 + c x)^3,
    and d v is accepted with the probability that makes its distribution the wanted one.  For a < 1
    a sample for a + 1 is multiplied by u^(1/a), u uniform, which in logarithms cannot underflow.

    Source: G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM
    Transactions on Mathematical Software 26 (2000).
    """
    zero, one, two = [constant_like(alpha, number) for number in (0, 1, 2)]
    large = alpha >= one
    d = select(large, alpha, alpha + one) - constant_like(alpha, 1 / 3)
    c = constant_like(alpha, 1 / 3) / sqrt(d)

    def rejected(state: Any) -> Any:
        _, square, v, u = state
        # The first inequality is cheap, and nearly always decides.
        surely = u >= one - constant_like(alpha, 0.0331) * (square * square)
        return surely & (log(u) >= square * constant_like(alpha, 0.5) + d * ((one - v) + log(v)))

    def positive(key: Any) -> tuple[Any, Any]:
        """A normal number x with 1 + c x > 0, and that."""

        def draw(state: Any) -> Any:
            key, subkey = new_keys(state[0])
            x = normal(subkey, (), alpha.dtype)
            return key, x, one + x * c

        return while_loop(lambda state: state[2] <= zero, draw, (key, zero, -one))[1:]

    def propose(state: Any) -> Any:
        key, key_x, key_u = new_keys(state[0], 3)
        x, v = positive(key_x)
        return key, x * x, (v * v) * v, uniform(key_u, (), alpha.dtype)

    key, subkey = new_keys(key)
    _, _, v, _ = while_loop(rejected, propose, (key, zero, one, two))
    if not log_space:
        u = 1 - uniform(subkey, (), alpha.dtype)
        return (d * v) * select(large, one, pow(u, one / alpha))
    log_u = -exponential(subkey, (), alpha.dtype)
    boost = select(large | (log_u == 0), zero, log_u * (one / alpha))
    return (log(d) + log(v)) + boost


# ---------------------------------------------------------------- the primitive


class RandomGamma(KeyOp):
    """Samples, or their logarithms, for the parameters `a`.

    The keys have the first dimensions of `a`, and each is split for the parameters in the others.
    """

    def abstract_eval(self, keys, a, *, log_space):
        check_keys(self.name, keys)
        return a

    def jvp(self, primals, tangents, *, log_space):
        keys, a = primals
        _, t = tangents
        samples = self.bind(keys, a, log_space=log_space)
        if type(t) is Zero:
            return samples, Zero(aval_of(samples).to_tangent_aval())
        return samples, mul(t, _slope(samples, a, log_space))

    def vmap(self, axis, dims, *args, log_space):
        keys, a = [bring_to(x, axis.size, dim, 0) for x, dim in zip(args, dims)]
        return self.bind(keys, a, log_space=log_space), 0

    def emit(self, b, keys, a, *, log_space):
        program = _gamma_program(*b.avals_in, log_space, config.trace_key())
        (out,) = b.call(self.name, program, [keys, a])
        return out


random_gamma_p = RandomGamma("random_gamma")


@lru_cache(maxsize=1024)
def _gamma_program(keys: Any, a: Any, log_space: bool, _trace_key: Any) -> ClosedJaxpr:
    """The jaxpr of the samples for keys and parameters of these types."""

    def sample_one(pair: Any) -> Any:
        return _gamma_one(*pair, log_space)

    def samples(keys: Any, a: Any) -> list[Any]:
        count = math.prod(a.shape[keys.ndim :])
        keys = random_split_p.bind(keys, shape=(count,))
        pairs = reshape(keys, (a.size,)), reshape(a, (a.size,))
        # Of other generators, mapped over keys, the bits would differ.
        together = keys.dtype._impl is threefry_prng_impl
        drawn = vmap(sample_one)(pairs) if together else map_in_turn(sample_one, pairs)
        return [reshape(drawn, a.shape)]

    return stage_closed(samples, [keys, a])


def _slope(samples: Any, a: Any, log_space: bool) -> Any:
    """The derivative of samples, or of their logarithms, in the parameter."""
    if not log_space:
        return random_gamma_grad(a, samples)
    x = exp(samples)
    tiny = full_like(x, finfo(x.dtype).tiny)
    x = select(eq(x, constant_like(x, 0)), tiny, x)
    return div(random_gamma_grad(a, x), x)


# ---------------------------------------------------------------- gamma


def gamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples with a density proportional to x**(a - 1) exp(-x) for x > 0.

    They are differentiable in `a`. Where `a` is small they underflow; see `loggamma`.

    Args:
      key: a random key.
      a: the shape parameter, positive.
      shape: the shape of the result, to which `a` broadcasts; by default that of `a`.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> x = random.gamma(random.key(0), 3.0, (10_000,))
    >>> bool(abs(x.mean() - 3) < 0.1)
    True
    """
    return _gamma_of("gamma", key, a, shape, dtype, False, out_sharding)


def loggamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Logarithms of samples of the gamma distribution, exact where the samples would underflow.

    Args:
      key: a random key.
      a: the shape parameter, positive.
      shape: the shape of the result, to which `a` broadcasts; by default that of `a`.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> bool(jnp.isfinite(random.loggamma(random.key(0), 1e-4, (100,))).all())
    True
    """
    return _gamma_of("loggamma", key, a, shape, dtype, True, out_sharding)


def _gamma_of(
    where: str, key: Any, a: Any, shape: Any, dtype: Any, log_space: bool, out_sharding: Any
) -> Any:
    key = single_key(where, key)
    dtype = float_dtype(where, dtype)
    shape = shape_or_none(where, shape)
    samples = _gamma(key, a, shape=shape, dtype=dtype, log_space=log_space)
    return placed(samples, out_sharding)


@program
def _gamma(key: Any, a: Any, *, shape: Any, dtype: Any, log_space: bool) -> Any:
    if shape is None:
        shape = np.shape(a)
    else:
        check_shape("gamma", shape, np.shape(a))
    a = broadcast_to(convert(a, dtype), shape, "random.gamma")
    return random_gamma_p.bind(key, a, log_space=log_space)


# ---------------------------------------------------------------- ratios of gammas


def beta(
    key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples with a density proportional to x**(a - 1) (1 - x)**(b - 1) for 0 < x < 1.

    They are differentiable in the parameters.

    Args:
      key: a random key.
      a, b: the parameters, positive.
      shape: the shape of the result, to which the parameters broadcast; by default their common
        shape.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> x = random.beta(random.key(0), 2.0, 3.0, (100,))
    >>> bool((x > 0).all() and (x < 1).all())
    True
    """
    return parametrized("beta", _beta, key, (a, b), shape, dtype, out_sharding)


@program
def _beta(key: Any, a: Any, b: Any, *, shape: Any, dtype: Any) -> Any:
    """x / (x + y) of two gamma samples, which as logarithms lose no precision."""
    key_a, key_b = new_keys(key)
    a, b = [broadcast_to(convert(x, dtype), shape, "random.beta") for x in (a, b)]
    log_x, log_y = loggamma(key_a, a, shape, dtype), loggamma(key_b, b, shape, dtype)
    largest = larger(log_x, log_y)
    x, y = exp(log_x - largest), exp(log_y - largest)
    return x / (x + y)


def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples of the Dirichlet distribution: positive numbers with the sum 1.

    Their density is proportional to the product of x[i]**(alpha[i] - 1). They are differentiable
    in `alpha`.

    Args:
      key: a random key.
      alpha: the parameters, positive; those of one sample lie along the last dimension.
      shape: the shape of the result without its last dimension, to which `alpha.shape[:-1]`
        broadcasts; by default the latter.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of shape (*shape, alpha.shape[-1]).

    Raises:
      ValueError: `alpha` is a scalar, or the shapes do not fit.

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> x = random.dirichlet(random.key(0), jnp.ones(3), (2,))
    >>> x.shape, bool(jnp.allclose(x.sum(1), 1))
    ((2, 3), True)
    """
    key = single_key("dirichlet", key)
    dtype = float_dtype("dirichlet", dtype)
    shape = shape_or_none("dirichlet", shape)
    return placed(_dirichlet(key, alpha, shape=shape, dtype=dtype), out_sharding)


@program
def _dirichlet(key: Any, alpha: Any, *, shape: Any, dtype: Any) -> Any:
    """Gamma samples divided by their sum, by way of their logarithms."""
    if np.ndim(alpha) < 1:
        raise ValueError(random_errors.rank_too_low("dirichlet", "alpha", 1, np.shape(alpha)))
    *batch, count = np.shape(alpha)
    if shape is None:
        shape = tuple(batch)
    else:
        check_shape("dirichlet", shape, batch)
    logs = loggamma(key, convert(alpha, dtype), (*shape, count), dtype)
    kept = (*shape, 1)
    last = (len(shape),)
    shares = exp(logs - stop_gradient(reshape(reduce_max(logs, last), kept)))
    return shares / reshape(reduce_sum(shares, last), kept)


def chisquare(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples of the chi-squared distribution: of sums of `df` squares of normal numbers.

    Args:
      key: a random key.
      df: the degrees of freedom, positive; it need not be an integer.
      shape: the shape of the result, to which `df` broadcasts; by default that of `df`.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.chisquare(random.key(0), 3.0, (100,)) > 0).all())
    True
    """
    return parametrized("chisquare", _chisquare, key, (df,), shape, dtype, out_sharding)


@program
def _chisquare(key: Any, df: Any, *, shape: Any, dtype: Any) -> Any:
    df = convert(df, dtype)
    two = constant_like(df, 2)
    return mul(exp(loggamma(key, div(df, two), shape, dtype)), two)


def t(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples of Student's t distribution.

    Args:
      key: a random key.
      df: the degrees of freedom, positive.
      shape: the shape of the result, to which `df` broadcasts; by default that of `df`.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> random.t(random.key(0), 3.0, (2, 3)).shape
    (2, 3)
    """
    return parametrized("t", _t, key, (df,), shape, dtype, out_sharding)


@program
def _t(key: Any, df: Any, *, shape: Any, dtype: Any) -> Any:
    df = convert(df, dtype)
    key_normal, key_gamma = new_keys(key)
    x = normal(key_normal, shape, dtype)
    half = div(df, constant_like(x, 2))
    return x * sqrt(half / gamma(key_gamma, half, shape, dtype))


def f(
    key: Any,
    dfnum: Any,
    dfden: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Samples of the F distribution: of the ratio of two means of squares of normal numbers.

    Args:
      key: a random key.
      dfnum, dfden: the degrees of freedom of the numerator and the denominator, positive.
      shape: the shape of the result, to which the parameters broadcast; by default their common
        shape.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.f(random.key(0), 3.0, 4.0, (100,)) > 0).all())
    True
    """
    return parametrized("f", _f, key, (dfnum, dfden), shape, dtype, out_sharding)


@program
def _f(key: Any, dfnum: Any, dfden: Any, *, shape: Any, dtype: Any) -> Any:
    dfden, dfnum = convert(dfden, dtype), convert(dfnum, dtype)
    key_den, key_num = new_keys(key)
    numerator = chisquare(key_num, dfnum, shape, dtype)
    denominator = chisquare(key_den, dfden, shape, dtype)
    return div(numerator / dfnum, denominator / dfden)


# ---------------------------------------------------------------- generalized normal


def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Samples with a density proportional to exp(-|x|**p).

    Args:
      key: a random key.
      p: the exponent, positive: 1 for the Laplace distribution, 2 for a normal one.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> random.generalized_normal(random.key(0), 1.5, (2, 3)).shape
    (2, 3)
    """
    shape = sample_shape("generalized_normal", shape)
    key = single_key("generalized_normal", key)
    dtype = float_dtype("generalized_normal", dtype)
    return placed(_generalized_normal(key, p, shape=shape, dtype=dtype), out_sharding)


@program
def _generalized_normal(key: Any, p: Any, *, shape: Any, dtype: Any) -> Any:
    key_size, key_sign = new_keys(key)
    size = gamma(key_size, 1 / p, shape, dtype)
    return rademacher(key_sign, shape, dtype) * size ** (1 / p)


def ball(
    key: Any,
    d: Any,
    p: Any = 2,
    shape: Any = (),
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Points that are equally likely to be anywhere in a ball of radius 1.

    Args:
      key: a random key.
      d: the number of coordinates of a point.
      p: the exponent of the norm: 2 for the Euclidean one.
      shape: the shape of the array of points.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of shape (*shape, d).

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> points = random.ball(random.key(0), 3, shape=(100,))
    >>> bool(((points**2).sum(1) < 1).all())
    True
    """
    shape = sample_shape("ball", shape)
    key = single_key("ball", key)
    dtype = float_dtype("ball", dtype)
    d = operator.index(d)
    return placed(_ball(key, p, d=d, shape=shape, dtype=dtype), out_sharding)


@program
def _ball(key: Any, p: Any, *, d: int, shape: Any, dtype: Any) -> Any:
    """Source: F. Barthe, O. Guédon, S. Mendelson, A. Naor, "A probabilistic approach to the
    geometry of the l_p^n-ball", Annals of Probability 33 (2005)."""
    key_points, key_radius = new_keys(key)
    points = generalized_normal(key_points, p, (*shape, d), dtype)
    slack = exponential(key_radius, shape, dtype)
    norm = ((abs(points) ** p).sum(-1) + slack) ** (1 / p)
    return points / norm[..., None]
