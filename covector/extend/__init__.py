"""Pieces for those who extend Covector: its language, sources, lowering and layouts.

Unlike the rest of the public API these may change from one version to the next.
"""

from .._src.interpreters.declare import primitive as primitive
from . import backend as backend
from . import core as core
from . import linear_util as linear_util
from . import lowering as lowering
from . import mlir as mlir
from . import random as random
from . import sharding as sharding
from . import source_info_util as source_info_util
from . import xla as xla
