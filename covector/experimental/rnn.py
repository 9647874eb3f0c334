"""LSTMs: their weights, and the networks."""

from .._src.experimental.rnn import get_num_params_in_lstm as get_num_params_in_lstm
from .._src.experimental.rnn import init_lstm_weight as init_lstm_weight
from .._src.experimental.rnn import lstm as lstm
from .._src.experimental.rnn import lstm_bwd as lstm_bwd
from .._src.experimental.rnn import lstm_fwd as lstm_fwd
from .._src.experimental.rnn import lstm_ref as lstm_ref
from .._src.experimental.rnn import swap_lstm_gates as swap_lstm_gates
from .._src.experimental.rnn import unpack_lstm_weights as unpack_lstm_weights
from .._src.nn.activations import sigmoid as sigmoid
from .._src.numpy.exponential import tanh as tanh
