"""Small libraries of neural networks and optimizers, to start from."""

from . import optimizers as optimizers
from . import stax as stax
