"""LSTMs of several layers, in one or both directions, for sequences of different lengths.

With the input x and the state (h, c), S the logistic function and products by elements,

    i, f, o = S(W x + b + V h + d)      g = tanh(W x + b + V h + d)   (W, V, b, d differ)
    c' = f c + i g                      h' = o tanh(c')

(Hochreiter and Schmidhuber, Long Short-Term Memory, Neural Computation 9, 1997; with the forget
gate f of Gers, Schmidhuber and Cummins, Neural Computation 12, 2000).  The matrices and vectors of
the four gates stand on top of one another in the order i, f, g, o, as in PyTorch and cuDNN.  What
does not depend on the state is, for all steps at once, one matrix product before the loop.

All of them together are one flat array, as cuDNN takes them: for each layer and direction W and V,
then for each b and d.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.autodiff import vjp
from ..api.jit import jit
from ..base.rnn_errors import lengths_not_int32, no_dropout, wrong_count
from ..control.scan import scan
from ..core.array import Array
from ..nn.activations import sigmoid
from ..numpy.contraction import matmul
from ..numpy.creation import asarray, zeros_like
from ..numpy.exponential import tanh
from ..numpy.joining import concatenate, split, stack
from ..numpy.ranges import arange
from ..numpy.selection import where
from ..random.uniform import uniform

Shape = tuple[int, ...]
Weights = dict[int, Array]


# ---------------------------------------------------------------- weights


def _matrix_shapes(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> list[Shape]:
    """The shapes of W and V of each layer and direction, in the order of the flat array."""
    directions = 2 if bidirectional else 1
    shapes: list[Shape] = []
    for layer in range(num_layers):
        width = directions * hidden_size if layer else input_size
        shapes += [(4 * hidden_size, width), (4 * hidden_size, hidden_size)] * directions
    return shapes


def _shapes(*sizes: Any) -> list[Shape]:
    """The shapes of all parts of the flat array."""
    matrices = _matrix_shapes(*sizes)
    return [*matrices, *[shape[:1] for shape in matrices]]


def get_num_params_in_lstm(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> int:
    """How many numbers the weights of an LSTM are.

    >>> from covector.experimental import rnn
    >>> rnn.get_num_params_in_lstm(3, 2, 1, False)  # 8 x 3, 8 x 2, and twice 8
    56
    """
    return sum(map(math.prod, _shapes(input_size, hidden_size, num_layers, bidirectional)))


def init_lstm_weight(
    rng: Any, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array:
    """Weights of an LSTM, even over [-k, k] with k the inverse of the root of `hidden_size`.

    Args:
      rng: a random key.
      input_size: how many numbers the input of each step is.
      hidden_size: how many numbers h and c are.
      num_layers: how many layers there are.
      bidirectional: whether each also reads the sequence from its end.

    Returns:
      A flat array of float32.

    >>> import covector as cv
    >>> from covector.experimental import rnn
    >>> rnn.init_lstm_weight(cv.random.key(0), 3, 2, 1, False).shape
    (56,)
    """
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    bound = np.sqrt(1.0 / hidden_size)
    return uniform(rng, (count,), np.float32, minval=-bound, maxval=bound)


def _parts(weights: Any, *sizes: Any) -> list[Array]:
    """The parts of the flat array."""
    shapes = _shapes(*sizes)
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    if weights.shape != (ends[-1],):
        raise ValueError(wrong_count(weights.shape, int(ends[-1])))
    pieces = split(weights, ends[:-1])
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes)]


def unpack_lstm_weights(
    weights: Array, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> tuple[Weights, Weights, Weights, Weights]:
    """The matrices and vectors in the flat weights of an LSTM.

    Args:
      weights: as `init_lstm_weight` returns them; the sizes are those there.

    Returns:
      W, V, b and d, each as a dict by the number of the layer; with both directions, 2 n and
      2 n + 1 are those of layer n.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import rnn
    >>> W, V, b, d = rnn.unpack_lstm_weights(jnp.arange(56.0), 3, 2, 1, False)
    >>> W[0].shape, V[0].shape, b[0].shape
    ((8, 3), (8, 2), (8,))
    """
    parts = _parts(weights, input_size, hidden_size, num_layers, bidirectional)
    matrices, vectors = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    found = matrices[::2], matrices[1::2], vectors[::2], vectors[1::2]
    W, V, b, d = (dict(enumerate(each)) for each in found)
    return W, V, b, d


def swap_lstm_gates(
    weights: Any, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array:
    """The flat weights with the gates g and o in the other order, as MIOpen takes them."""
    swapped = []
    for part in _parts(asarray(weights), input_size, hidden_size, num_layers, bidirectional):
        i, f, g, o = split(part, 4)
        swapped.append(concatenate([i, f, o, g]).ravel())
    return concatenate(swapped)


# ---------------------------------------------------------------- the network


def _layer(
    x: Array, state: tuple[Any, Any], weights: Any, lengths: Any, backwards: bool, precision: Any
) -> tuple[Array, Array, Array]:
    """One layer in one direction: what it gives at each step, and the last h and c.

    Beyond the end of its sequence the state stays as it is, and 0 is given. So from the end, too,
    the loop comes to the sequence with the state of the beginning.
    """
    W, V, b, d = weights
    fixed = matmul(x, W.T, precision=precision) + (b + d)
    is_within = (arange(x.shape[0], dtype=np.int32)[:, None] < lengths)[..., None]

    def step(state: Any, inputs: Any) -> Any:
        h, c = state
        fixed, within = inputs
        i, f, g, o = split(fixed + matmul(h, V.T, precision=precision), 4, axis=-1)
        new_c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        new_h = sigmoid(o) * tanh(new_c)
        return (where(within, new_h, h), where(within, new_c, c)), where(within, new_h, 0)

    (h, c), y = scan(step, state, (fixed, is_within), reverse=backwards)
    return y, h, c


def _network(
    x: Any, h_0: Any, c_0: Any, weights: Any, lengths: Any, bidirectional: bool, precision: Any
) -> tuple[Array, Array, Array]:
    """All layers; `weights` are W, V, b and d by layer and direction."""
    directions = 2 if bidirectional else 1
    y = x.transpose(1, 0, 2)
    states = []
    for first in range(0, len(weights[0]), directions):
        outs = []
        for k in range(first, first + directions):
            mine = [each[k] for each in weights]
            backwards = k > first
            out, *state = _layer(y, (h_0[k], c_0[k]), mine, lengths, backwards, precision)
            outs.append(out)
            states.append(state)
        y = concatenate(outs, axis=-1) if bidirectional else outs[0]
    hs, cs = zip(*states)
    return y.transpose(1, 0, 2), stack(hs), stack(cs)


def _check(lengths: Any, dropout: Any) -> None:
    if lengths.dtype != np.int32:
        raise NotImplementedError(lengths_not_int32(lengths.dtype))
    if dropout != 0.0:
        raise NotImplementedError(no_dropout(dropout))


def _lstm_ref(
    x: Array,
    h_0: Array,
    c_0: Array,
    W_ih: Weights,
    W_hh: Weights,
    b_ih: Weights,
    b_hh: Weights,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Array, Array, Array]:
    """`lstm`, of which the matrices and vectors are given as `unpack_lstm_weights` returns them."""
    _check(seq_lengths, dropout)
    count = num_layers * (2 if bidirectional else 1)
    weights = [[each[k] for k in range(count)] for each in (W_ih, W_hh, b_ih, b_hh)]
    return _network(x, h_0, c_0, weights, seq_lengths, bidirectional, None)


_lstm_ref.__name__ = _lstm_ref.__qualname__ = "lstm_ref"
lstm_ref = jit(_lstm_ref, static_argnums=(8, 9, 10, 11, 12))


def lstm(
    x: Array,
    h_0: Array,
    c_0: Array,
    weights: Array,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: Any = None,
) -> tuple[Array, Array, Array]:
    """An LSTM, read along sequences of different lengths; a compiled loop on every platform.

    Args:
      x: the sequences, (batch, steps, input_size).
      h_0, c_0: the state at the beginning, (layers * directions, batch, hidden_size).
      weights: a flat array, as `init_lstm_weight` makes it.
      seq_lengths: the length of each sequence, int32 (batch,).
      input_size, hidden_size, num_layers: the sizes.
      dropout: must be 0.
      bidirectional: whether each layer also reads the sequence from its end.
      precision: of matrix products.

    Returns:
      What the last layer gives at each step, (batch, steps, directions * hidden_size), and 0 beyond
      the end of a sequence; and h and c there, in the shapes of `h_0` and `c_0`.

    Raises:
      NotImplementedError: `seq_lengths` are not of int32, or there is dropout.
      ValueError: there are more or fewer weights than the sizes ask for.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.experimental import rnn
    >>> weights = rnn.init_lstm_weight(cv.random.key(0), 3, 2, 1, False)
    >>> x, zero = jnp.ones((4, 5, 3)), jnp.zeros((1, 4, 2))
    >>> y, h, c = rnn.lstm(x, zero, zero, weights, jnp.full(4, 5), 3, 2, 1, 0.0, False)
    >>> y.shape, h.shape, c.shape
    ((4, 5, 2), (1, 4, 2), (1, 4, 2))
    """
    _check(seq_lengths, dropout)
    parts = unpack_lstm_weights(weights, input_size, hidden_size, num_layers, bidirectional)
    return _network(x, h_0, c_0, parts, seq_lengths, bidirectional, precision)


def lstm_fwd(
    x: Array,
    h_0: Array,
    c_0: Array,
    w: Array,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: Any,
) -> tuple[tuple[Array, Array, Array], Any]:
    """What `lstm` returns, and what `lstm_bwd` needs to go back through it."""
    sizes = input_size, hidden_size, num_layers, dropout, bidirectional, precision
    given = x, h_0, c_0, w
    out, pullback = vjp(lambda *given: lstm(*given, seq_lengths, *sizes), *given)
    return out, (pullback, seq_lengths)


def lstm_bwd(
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: Any,
    residuals: Any,
    gradients: tuple[Array, Array, Array],
) -> tuple[Array, Array, Array, Array, Array]:
    """The cotangents of the five arrays that `lstm` takes, of which the lengths have none but 0.

    Args:
      input_size, hidden_size, num_layers, dropout, bidirectional, precision: as in `lstm_fwd`.
      residuals: the second of what `lstm_fwd` returned.
      gradients: the cotangents of the three results.
    """
    pullback, seq_lengths = residuals
    dx, dh_0, dc_0, dw = pullback(tuple(gradients))
    return dx, dh_0, dc_0, dw, zeros_like(seq_lengths)
