"""Whether freed memory stays with the process: what glibc's allocator was told."""

import ctypes
import subprocess
import sys

import pytest

if not hasattr(ctypes.CDLL(None), "mallinfo2"):
    pytest.skip("only glibc has these settings", allow_module_level=True)

PAGES = (1 << 26) // 4096  # of 64 MiB

# Prints how many bytes an allocation of 64 MiB adds to those that are mapped one by one, and how
# many pages ten calls on an array of 64 MiB have to map anew.
PROGRAM = """
import ctypes, resource
import covector as cv

class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Statistics
libc.malloc.restype = ctypes.c_void_p
f, x = cv.jit(lambda v: 2.5 * v + v), cv.numpy.ones(1 << 24)
for _ in range(40):
    f(x).block_until_ready()
before = libc.mallinfo2().hblkhd
libc.malloc(ctypes.c_size_t(1 << 26))
mapped = libc.mallinfo2().hblkhd - before
faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    f(x).block_until_ready()
print(mapped, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        env={"JAX_PLATFORMS": "cpu", "PYTHONPATH": ":".join(sys.path)} | environment,
    )
    return tuple(map(int, done.stdout.split()))


def test_freed_memory_is_used_again():
    mapped, faults = run()
    assert mapped == 0
    assert faults < 10 * PAGES / 2  # now and then an earlier result is still held: a new place


def test_the_allocator_is_left_as_it_is():
    mapped, faults = run(COVECTOR_CPU_KEEP_FREED_MEMORY="false")
    assert mapped >= 1 << 26
    assert faults >= 10  # one page a call at least, were they as huge as the array
