"""Checks of values at run time, also in compiled programs."""

from .._src.api.check import check as check
from .._src.api.check import check_error as check_error
from .._src.api.check import debug_check as debug_check
from .._src.api.checkify import all_checks as all_checks
from .._src.api.checkify import automatic_checks as automatic_checks
from .._src.api.checkify import checkify as checkify
from .._src.api.checkify import div_checks as div_checks
from .._src.api.checkify import float_checks as float_checks
from .._src.api.checkify import index_checks as index_checks
from .._src.api.checkify import nan_checks as nan_checks
from .._src.api.checkify import user_checks as user_checks
from .._src.api.checkify_error import Error as Error
from .._src.api.checkify_error import ErrorCategory as ErrorCategory
from .._src.api.checkify_error import JaxRuntimeError as JaxRuntimeError
from .._src.api.checkify_error import init_error as init_error
