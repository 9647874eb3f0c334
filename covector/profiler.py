"""Traces of what a program does over time, and profiles of the devices' memory."""

from ._src.xla.profiler import ProfileData as ProfileData
from ._src.xla.profiler import ProfileEvent as ProfileEvent
from ._src.xla.profiler import ProfileOptions as ProfileOptions
from ._src.xla.profiler import ProfilePlane as ProfilePlane
from ._src.xla.profiler import StepTraceAnnotation as StepTraceAnnotation
from ._src.xla.profiler import TraceAnnotation as TraceAnnotation
from ._src.xla.profiler import annotate_function as annotate_function
from ._src.xla.profiler import device_memory_profile as device_memory_profile
from ._src.xla.profiler import register_subprocess as register_subprocess
from ._src.xla.profiler import save_device_memory_profile as save_device_memory_profile
from ._src.xla.profiler import start_server as start_server
from ._src.xla.profiler import start_trace as start_trace
from ._src.xla.profiler import stop_server as stop_server
from ._src.xla.profiler import stop_trace as stop_trace
from ._src.xla.profiler import trace as trace
