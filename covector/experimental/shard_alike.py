"""Arrays that are spread over devices in the same way."""

from .._src.experimental.attributes import shard_alike as shard_alike
