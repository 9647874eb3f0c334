"""Mutable references to arrays: see `new_ref`."""

from ._src.core.refs import AbstractRef as AbstractRef
from ._src.core.refs import Ref as Ref
from ._src.numpy.refs import addupdate as addupdate
from ._src.numpy.refs import empty_ref as empty_ref
from ._src.numpy.refs import free_ref as free_ref
from ._src.numpy.refs import freeze as freeze
from ._src.numpy.refs import get as get
from ._src.numpy.refs import new_ref as new_ref
from ._src.numpy.refs import set as set
from ._src.numpy.refs import swap as swap
