"""Trees: nested containers of arrays and other leaves, taken apart, rebuilt and mapped over.

A tree is a leaf, or a node whose children are trees: a tuple, list, dict, namedtuple, `None` (no
children), or an instance of a class registered with `covector.tree_util`.

>>> from covector import tree
>>> tree.map(lambda x: 2 * x, {"weights": [1.0, 2.0], "bias": 0.5})
{'weights': [2.0, 4.0], 'bias': 1.0}
"""

from ._src.base.tree import all as all
from ._src.base.tree import broadcast as broadcast
from ._src.base.tree import flatten as flatten
from ._src.base.tree import flatten_with_path as flatten_with_path
from ._src.base.tree import leaves as leaves
from ._src.base.tree import leaves_with_path as leaves_with_path
from ._src.base.tree import map as map
from ._src.base.tree import map_with_path as map_with_path
from ._src.base.tree import reduce as reduce
from ._src.base.tree import reduce_associative as reduce_associative
from ._src.base.tree import structure as structure
from ._src.base.tree import transpose as transpose
from ._src.base.tree import unflatten as unflatten
from ._src.base.tree_dataclass import static as static
