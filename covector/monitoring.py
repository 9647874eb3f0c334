"""Events that programs tell about, and those who listen."""

from ._src.base.monitoring import clear_event_listeners as clear_event_listeners
from ._src.base.monitoring import record_event as record_event
from ._src.base.monitoring import record_event_duration_secs as record_event_duration_secs
from ._src.base.monitoring import record_event_time_span as record_event_time_span
from ._src.base.monitoring import record_scalar as record_scalar
from ._src.base.monitoring import (
    register_event_duration_secs_listener as register_event_duration_secs_listener,
)
from ._src.base.monitoring import register_event_listener as register_event_listener
from ._src.base.monitoring import (
    register_event_time_span_listener as register_event_time_span_listener,
)
from ._src.base.monitoring import register_scalar_listener as register_scalar_listener
from ._src.base.monitoring import (
    unregister_event_duration_listener as unregister_event_duration_listener,
)
from ._src.base.monitoring import unregister_event_listener as unregister_event_listener
from ._src.base.monitoring import (
    unregister_event_time_span_listener as unregister_event_time_span_listener,
)
from ._src.base.monitoring import unregister_scalar_listener as unregister_scalar_listener
