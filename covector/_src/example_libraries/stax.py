"""Small neural networks as pairs of functions.

A layer is `(init_fun, apply_fun)`: `init_fun(key, input_shape)` returns the output's shape and the
parameters, `apply_fun(params, inputs, rng=key)` the output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base import example_errors as errors
from ..control.reduce_window import reduce_window
from ..nn.activations import gelu, sigmoid, softplus
from ..nn.initializers import glorot_normal, normal, ones, zeros
from ..nn.rectifiers import elu, leaky_relu, relu, selu
from ..nn.softmax import log_softmax, softmax, standardize
from ..numpy.contraction import dot
from ..numpy.exponential import exp, tanh
from ..numpy.joining import concatenate
from ..numpy.selection import where
from ..numpy.shaping import expand_dims, reshape
from ..ops.arithmetic import add, max
from ..ops.convolution import conv_general_dilated
from ..ops.convolution_functions import conv_transpose
from ..ops.convolution_shapes import conv_general_shape_tuple, conv_transpose_shape_tuple
from ..ops.windows_shapes import padtype_to_pads, reduce_window_shape_tuple
from ..random.keys import split
from ..random.uniform import bernoulli

Shape = Sequence[int]
Layer = tuple[Callable[..., Any], Callable[..., Any]]

glorot = glorot_normal
randn = normal
logsoftmax = log_softmax

# ---------------------------------------------------------------- layers with parameters


def Dense(out_dim: int, W_init: Any = glorot_normal(), b_init: Any = normal()) -> Layer:  # noqa: B008
    """A dense layer: inputs times a matrix, plus a vector.

    Args:
      out_dim: the size of the output's last axis.
      W_init, b_init: initializers of the matrix and of the vector.

    >>> import covector as cv
    >>> from covector.example_libraries import stax
    >>> init_fun, apply_fun = stax.Dense(3)
    >>> shape, (w, b) = init_fun(cv.random.key(0), (-1, 2))
    >>> shape, w.shape, b.shape
    ((-1, 3), (2, 3), (3,))
    """

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        key_w, key_b = split(rng)
        params = (W_init(key_w, (input_shape[-1], out_dim)), b_init(key_b, (out_dim,)))
        return (*input_shape[:-1], out_dim), params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        return dot(inputs, w) + b

    return init_fun, apply_fun


def _convolution(
    shape_tuple: Callable[..., Any],
    convolve: Callable[..., Any],
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    strides: Shape | None,
    padding: Any,
    W_init: Any,
    b_init: Any,
) -> Layer:
    """A convolution or a transposed one, plus a number for each channel."""
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    strides = strides or (1,) * len(filter_shape)
    W_init = W_init or glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        sizes = iter(filter_shape)
        channels = {"O": out_chan, "I": input_shape[lhs_spec.index("C")]}
        kernel = [channels[c] if c in channels else next(sizes) for c in rhs_spec]
        bias = [out_chan if c == "C" else 1 for c in out_spec]
        shape = shape_tuple(input_shape, kernel, strides, padding, dimension_numbers)
        key_w, key_b = split(rng)
        return shape, (W_init(key_w, kernel), b_init(key_b, bias))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        return convolve(inputs, w, strides, padding, dimension_numbers=dimension_numbers) + b

    return init_fun, apply_fun


def GeneralConv(
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008
) -> Layer:
    """A convolution.

    Args:
      dimension_numbers: as of `lax.conv_general_dilated`.
      out_chan: the number of output channels.
      filter_shape: the sizes of the filters.
      strides, padding: as of `lax.conv_general_dilated`.
      W_init, b_init: initializers of the filters and of the numbers that are added.
    """
    return _convolution(
        conv_general_shape_tuple, conv_general_dilated, dimension_numbers, out_chan, filter_shape,
        strides, padding, W_init, b_init,
    )  # fmt: skip


def GeneralConvTranspose(
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008
) -> Layer:
    """A transposed convolution; arguments as of `GeneralConv`."""
    return _convolution(
        conv_transpose_shape_tuple, conv_transpose, dimension_numbers, out_chan, filter_shape,
        strides, padding, W_init, b_init,
    )  # fmt: skip


Conv = partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """Normalization to mean 0 and variance 1 over some axes, then a scale and a shift.

    Args:
      axis: the axes, a number or a tuple.
      epsilon: is added to the variance.
      center, scale: whether there is a shift and a scale.
      beta_init, gamma_init: initializers of shift and scale.
    """
    axes = (axis,) if np.isscalar(axis) else tuple(axis)

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        shape = tuple([d for i, d in enumerate(input_shape) if i not in axes])
        key_beta, key_gamma = split(rng)
        beta = beta_init(key_beta, shape) if center else ()
        gamma = gamma_init(key_gamma, shape) if scale else ()
        return input_shape, (beta, gamma)

    def apply_fun(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        z = standardize(x, axes, epsilon=epsilon)
        if scale:
            z = expand_dims(gamma, axes) * z
        return z + expand_dims(beta, axes) if center else z

    return init_fun, apply_fun


# ---------------------------------------------------------------- layers without parameters


def _layer(shape: Callable[[Any], Any], apply: Callable[[Any], Any]) -> Layer:
    """A layer of a function of the input's shape and one of the input."""
    return lambda rng, input_shape: (shape(input_shape), ()), lambda params, inputs, **_: apply(
        inputs
    )


def _same(shape: Any) -> Any:
    return shape


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A layer that applies a function, which keeps the shape."""
    return _layer(_same, lambda x: fun(x, **fun_kwargs))


Elu, Gelu, Selu = elementwise(elu), elementwise(gelu), elementwise(selu)
Relu, LeakyRelu, Softplus = elementwise(relu), elementwise(leaky_relu), elementwise(softplus)
Exp, Sigmoid, Tanh = elementwise(exp), elementwise(sigmoid), elementwise(tanh)
Softmax, LogSoftmax = elementwise(softmax, axis=-1), elementwise(log_softmax, axis=-1)
Identity = _layer(_same, lambda x: x)
Flatten = _layer(
    lambda shape: (shape[0], math.prod(shape[1:])), lambda x: reshape(x, (x.shape[0], -1))
)


def _pooling(
    reducer: Callable[..., Any],
    start: float,
    mean: bool,
    window_shape: Shape,
    strides: Shape | None,
    padding: Any,
    spec: str | None,
) -> Layer:
    spec = "N" + " " * len(window_shape) + "C" if spec is None else spec
    spatial = [i for i, c in enumerate(spec) if c not in "NC"]
    window, steps = [1] * len(spec), [1] * len(spec)
    for i, size, stride in zip(spatial, window_shape, strides or (1,) * len(window_shape)):
        window[i], steps[i] = size, stride
    ones = (1,) * len(spec)

    def shape(input_shape: Shape) -> Any:
        pads = padtype_to_pads(input_shape, window, steps, padding)
        return reduce_window_shape_tuple(input_shape, window, steps, pads, ones, ones)

    def reduced(x: Any) -> Any:
        return reduce_window(x, start, reducer, window, steps, padding)

    def apply(x: Any) -> Any:
        if not mean:
            return reduced(x)
        # How many elements a window has that are not padding.
        sizes = [n if i in spatial else 1 for i, n in enumerate(x.shape)]
        return reduced(x) / reduced(np.ones(sizes, x.dtype))

    return _layer(shape, apply)


def MaxPool(
    window_shape: Shape, strides: Shape | None = None, padding: Any = "VALID", spec: Any = None
) -> Layer:
    """The largest element of each window.

    Args:
      window_shape: the sizes of windows along the spatial axes.
      strides: the distances of windows; 1 by default.
      padding: as of `lax.reduce_window`.
      spec: which axes are batch and channels, such as `"NHWC"`; by default the first and the last.
    """
    return _pooling(max, -np.inf, False, window_shape, strides, padding, spec)


def SumPool(
    window_shape: Shape, strides: Shape | None = None, padding: Any = "VALID", spec: Any = None
) -> Layer:
    """The sum of each window; arguments as of `MaxPool`."""
    return _pooling(add, 0.0, False, window_shape, strides, padding, spec)


def AvgPool(
    window_shape: Shape, strides: Shape | None = None, padding: Any = "VALID", spec: Any = None
) -> Layer:
    """The mean of each window, without padding; arguments as of `MaxPool`."""
    return _pooling(add, 0.0, True, window_shape, strides, padding, spec)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Each element is kept with probability `rate`, and divided by it, or becomes zero.

    Args:
      rate: the probability.
      mode: `"train"`; in others inputs are kept as they are.

    The layer's `apply_fun` needs a key, `rng=`.
    """

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError(errors.no_key())
        if mode != "train":
            return inputs
        return where(bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return lambda rng, input_shape: (input_shape, ()), apply_fun


# ---------------------------------------------------------------- several inputs and outputs


def FanOut(num: int) -> Layer:
    """A layer that returns its input several times, in a list."""
    return _layer(lambda shape: [shape] * num, lambda x: [x] * num)


FanInSum = _layer(lambda shapes: shapes[0], sum)


def FanInConcat(axis: int = -1) -> Layer:
    """A layer that joins the arrays in a list along an axis."""

    def shape(shapes: Sequence[Shape]) -> Any:
        joined = list(shapes[0])
        joined[axis] = sum([s[axis] for s in shapes])
        return tuple(joined)

    return _layer(shape, lambda xs: concatenate(xs, axis))


def _keys(rng: Any, count: int) -> Any:
    return [None] * count if rng is None else split(rng, count)


def serial(*layers: Layer) -> Layer:
    """Layers one after the other; the parameters are in a list.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.example_libraries import stax
    >>> init_fun, apply_fun = stax.serial(stax.Dense(4), stax.Relu, stax.Dense(2))
    >>> shape, params = init_fun(cv.random.key(0), (-1, 3))
    >>> apply_fun(params, jnp.ones((5, 3))).shape
    (5, 2)
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        params = []
        for init, _ in layers:
            rng, key = split(rng)
            input_shape, param = init(key, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        for (_, apply), param, key in zip(layers, params, keys):
            inputs = apply(param, inputs, rng=key, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Layers side by side, of a list of inputs to a list of outputs."""

    def init_fun(rng: Any, input_shape: Any) -> Any:
        keys = split(rng, len(layers))
        made = [init(key, shape) for (init, _), key, shape in zip(layers, keys, input_shape)]
        return [shape for shape, _ in made], [params for _, params in made]

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        return [
            apply(param, x, rng=key, **kwargs)
            for (_, apply), param, x, key in zip(layers, params, inputs, keys)
        ]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """A layer that a function makes of the input's shape."""

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun
