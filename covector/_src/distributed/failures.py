"""A process that an error ends tells the others why, which then end too.

They may be waiting for it in a program, without an end: what carries values between processes does
not notice that one is gone, and the runtime only after many seconds without a heartbeat.  So each
process has a thread that looks, now and then, for a text under a key of the service.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

from ..base.process_errors import other_failed
from ..xla.native import xla_client
from ..xla.processes import Connection

_KEY = "covector/failure"


def _seconds_between(num_processes: int) -> float:
    """How long each waits before it looks again, so that the service is asked 200 times a second
    at most."""
    return max(0.5, num_processes / 200)


class Listener:
    """The thread that ends this process when another one has told why it ends.

    It must have stopped before Python ends: a thread that comes back into it then would end the
    process with a signal.
    """

    def __init__(self, joined: Connection):
        self._joined = joined
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="covector-failures", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _listen(self) -> None:
        seconds = _seconds_between(self._joined.num_processes)
        while not self._stopped.wait(seconds):
            try:
                text = self._joined.client.key_value_try_get(_KEY)
            except xla_client.XlaRuntimeError as error:
                if "NOT_FOUND" in str(error):
                    continue
                return  # the service is gone, of which the runtime tells
            self._end(text)

    def _end(self, text: str) -> None:
        number, _, failure = text.partition(" ")
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            words = other_failed(self._joined.process_id, int(number), failure)
            print(words, file=sys.stderr, flush=True)
        _let_others_look(self._joined)
        os._exit(1)


def tell(joined: Connection, error: BaseException) -> None:
    """Tell the others which error ends this process, if none has told before."""
    with contextlib.suppress(xla_client.XlaRuntimeError):
        text = f"{joined.process_id} {type(error).__name__}: {error}"
        joined.client.key_value_set(_KEY, text)
        _let_others_look(joined)


def _let_others_look(joined: Connection) -> None:
    """Stay for a while if this process runs the service, which ends with it."""
    if joined.service is not None and joined.num_processes > 1:
        time.sleep(2 * _seconds_between(joined.num_processes))
