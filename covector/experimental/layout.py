"""How arrays lie in the memory of their devices."""

from .._src.experimental.attributes import with_layout_constraint as with_layout_constraint
from .._src.xla.layout import Format as Format
from .._src.xla.layout import Layout as Layout
