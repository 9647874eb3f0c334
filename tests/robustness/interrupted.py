"""Interrupts work that never ends, again and again, and prints what did not notice it.

A program of its own: `test_interrupts.py` runs it.  Other libraries in the same process may swallow
an interrupt.
"""

import gc
import os
import signal
import threading
import time

import numpy as np

import covector as cv
import covector.numpy as jnp

SECONDS = 2  # after which a loop gives up waiting
_CLOCK = time.monotonic


def forever(x, end):
    while _CLOCK() < end:
        x = jnp.sin(x)
    return x


def compiling(end):
    step = 0
    while _CLOCK() < end:
        step += 1
        cv.jit(lambda x: jnp.sin(x) * step)(1.0)  # noqa: B023


def collecting(end):
    while _CLOCK() < end:
        gc.collect()


def within_callback(end):
    def slow(x):
        while _CLOCK() < end:
            time.sleep(0.01)
        return np.float32(x)

    kind = cv.ShapeDtypeStruct((), jnp.float32)
    cv.jit(lambda x: cv.pure_callback(slow, kind, x))(1.0).block_until_ready()


LOOPS = {
    "the first op of all": lambda end: forever(jnp.float32(1), end),
    "eager": lambda end: forever(jnp.float32(1), end),
    "garbage collection": collecting,
    "jit": lambda end: cv.jit(lambda x: forever(x, end))(1.0),
    "compilation": compiling,
    "grad": lambda end: cv.grad(lambda x: forever(x, end))(1.0),
    "vmap of grad": lambda end: cv.vmap(cv.grad(lambda x: forever(x, end)))(jnp.ones(3)),
    "scan": lambda end: cv.lax.scan(lambda c, x: (forever(c, end), x), 1.0, jnp.ones(3)),
    "while_loop": lambda end: cv.lax.while_loop(lambda c: c < 1, lambda c: forever(c, end), 0.5),
    "callback": within_callback,
    "checkpoint": lambda end: cv.grad(cv.checkpoint(lambda x: forever(x, end)))(1.0),
}


def is_interrupted(loop, after):
    def interrupt():
        time.sleep(after)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        loop(_CLOCK() + SECONDS)
    except KeyboardInterrupt:
        return True
    finally:
        thread.join()
    return False


def is_whole():
    """Whether calls of many kinds work."""
    y = cv.jit(lambda x: 2 * x + 1)(3.0)
    slope = cv.grad(lambda x: x**3)(2.0)
    mapped = cv.vmap(lambda x: x + 1)(jnp.arange(3)).tolist()
    return y == 7 and slope == 12 and mapped == [1, 2, 3]


if __name__ == "__main__":
    # A shell lets what it starts in the background ignore interrupts, and its children with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, loop in LOOPS.items():
        if not is_interrupted(loop, 0.02 if "first" in name else 0.1):
            print("went on:", name)
        if not is_whole():
            print("broken:", name)
    print("end")
