"""Random numbers from generators with a state."""

from .._src.experimental.stateful_random import StatefulPRNG as StatefulPRNG
from .._src.experimental.stateful_random import stateful_rng as stateful_rng
