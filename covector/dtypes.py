"""Dtypes: `jax.dtypes` under its own names."""

from ._src.base.dtypes import TypePromotionError as TypePromotionError
from ._src.base.dtypes import bfloat16 as bfloat16
from ._src.base.dtypes import canonicalize_dtype as canonicalize_dtype
from ._src.base.dtypes import extended as extended
from ._src.base.dtypes import finfo as finfo
from ._src.base.dtypes import float0 as float0
from ._src.base.dtypes import iinfo as iinfo
from ._src.base.dtypes import issubdtype as issubdtype
from ._src.base.dtypes import itemsize_bits as itemsize_bits
from ._src.base.dtypes import prng_key as prng_key
from ._src.base.dtypes import result_type as result_type
from ._src.base.dtypes import scalar_type_of as scalar_type_of
