"""Generators of random bits, and the means to define others."""

from .._src.ops.random_bits import threefry2x32_p as threefry2x32_p
from .._src.random.keys import define_prng_impl as define_prng_impl
from .._src.random.keys import random_seed as random_seed
from .._src.random.keys import seed_with_impl as seed_with_impl
from .._src.random.rbg import rbg_prng_impl as rbg_prng_impl
from .._src.random.rbg import unsafe_rbg_prng_impl as unsafe_rbg_prng_impl
from .._src.random.threefry import threefry_2x32 as threefry_2x32
from .._src.random.threefry import threefry_prng_impl as threefry_prng_impl
