"""Functions of flat arguments on the way through transformations."""

from .._src.api.linear_util import StoreException as StoreException
from .._src.api.linear_util import WrappedFun as WrappedFun
from .._src.api.linear_util import merge_linear_aux as merge_linear_aux
from .._src.api.linear_util import transformation as transformation
from .._src.api.linear_util import transformation2 as transformation2
from .._src.api.linear_util import transformation_with_aux as transformation_with_aux
from .._src.api.linear_util import transformation_with_aux2 as transformation_with_aux2
from .._src.api.linear_util import wrap_init as wrap_init
