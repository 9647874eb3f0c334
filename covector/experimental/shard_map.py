"""`shard_map` as it was before."""

from .._src.experimental.old_names import shard_map as shard_map
