"""Batches: tables of the primitives' rules, ways to declare the common ones, and batches that are
no arrays."""

from .._src.api.vmappable import register_vmappable as register_vmappable
from .._src.api.vmappable import unregister_vmappable as unregister_vmappable
from .._src.interpreters.batching import axis_primitive_batchers as axis_primitive_batchers
from .._src.interpreters.batching import bdim_at_front as bdim_at_front
from .._src.interpreters.batching import broadcast as broadcast
from .._src.interpreters.batching import defbroadcasting as defbroadcasting
from .._src.interpreters.batching import defreducer as defreducer
from .._src.interpreters.batching import defvectorized as defvectorized
from .._src.interpreters.batching import fancy_primitive_batchers as fancy_primitive_batchers
from .._src.interpreters.batching import primitive_batchers as primitive_batchers
