"""The version of Covector."""

from ._src.base.version import __version__ as __version__
from ._src.base.version import __version_info__ as __version_info__
