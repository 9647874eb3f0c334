"""The package's logger, and the flags that say which of its messages are shown."""

from __future__ import annotations

import logging

from . import config

logger = logging.getLogger("covector")


@config.logging_level.on_change
def _set_level(level: str | None) -> None:
    if level is not None:
        logger.setLevel(level)


# The loggers that show their debug messages, with the handler that does it.
_shown: dict[str, logging.Handler] = {}


@config.debug_log_modules.on_change
def _show_debug_messages(names: str) -> None:
    for name, handler in _shown.items():
        logging.getLogger(name).removeHandler(handler)
        logging.getLogger(name).setLevel(logging.NOTSET)
    _shown.clear()
    for name in filter(None, map(str.strip, names.split(","))):
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s:%(asctime)s:%(name)s: %(message)s"))
        logging.getLogger(name).setLevel(logging.DEBUG)
        logging.getLogger(name).addHandler(handler)
        _shown[name] = handler


def _follow_environment() -> None:
    if config.logging_level.value not in (None, "NOTSET"):
        _set_level(config.logging_level.value)
    if config.debug_log_modules.value:
        _show_debug_messages(config.debug_log_modules.value)


_follow_environment()
