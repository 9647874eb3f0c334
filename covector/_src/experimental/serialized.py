"""Compiled programs that are kept as bytes, and loaded again by this or another process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..api.backends import get_backend
from ..api.stages import Compiled
from ..base import serialize_errors as errors
from ..xla.native import Client
from ..xla.serialized import Signature, device_numbers
from ..xla.serialized import deserialize as executable_from
from ..xla.serialized import serialize as bytes_of


def serialize(compiled: Compiled) -> tuple[bytes, Any, Any]:
    """A compiled program as bytes, for machines like this one.

    Args:
      compiled: what `jit(f).lower(...).compile()` returns.

    Returns:
      The bytes, and the trees of the arguments `(args, kwargs)` and of the results, which need not
      be such as can be written down.

    Raises:
      TypeError: it is no compiled program.
      ValueError: the program calls functions of this process, or has captured arrays that are
        spread over several devices.

    >>> import covector as cv
    >>> from covector.experimental.serialize_executable import deserialize_and_load, serialize
    >>> compiled = cv.jit(lambda x: 2 * x).lower(1.0).compile()
    >>> print(deserialize_and_load(*serialize(compiled))(3.0))
    6.0
    """
    if not isinstance(compiled, Compiled):
        raise TypeError(errors.not_compiled(compiled))
    closed, params = compiled._jaxpr, compiled._params
    info = closed.debug_info
    signature = Signature(
        params["name"],
        None if info is None else info.arg_names,
        closed.in_avals,
        closed.out_avals,
        tuple(params["donated_invars"]),
    )
    code = bytes_of(compiled._executable, signature, compiled._device)
    return code, compiled.in_tree, compiled.out_tree


def deserialize_and_load(
    serialized: bytes,
    in_tree: Any,
    out_tree: Any,
    backend: str | Client | None = None,
    execution_devices: Sequence[Any] | None = None,
) -> Compiled:
    """The compiled program that `serialize` wrote; nothing is compiled.

    What is in the bytes is executed: take them from nobody whom you do not trust.

    Args:
      serialized, in_tree, out_tree: what `serialize` returned.
      backend: the platform, or its client; by default the default one.
      execution_devices: the devices on which it is to run, in the program's order; by default those
        for which it was compiled.

    Raises:
      ValueError: there are no such devices, or they are of another backend.
    """
    client = get_backend(backend)
    devices = _devices(serialized, client, execution_devices)
    executable, signature = executable_from(serialized, client, devices)
    params = dict(name=signature.name, donated_invars=signature.donated, compiler_options=())
    return Compiled(signature.jaxpr(), params, in_tree, out_tree, executable, devices[0])


def _devices(serialized: bytes, client: Client, given: Sequence[Any] | None) -> tuple[Any, ...]:
    """The devices on which a program is to run."""
    numbers = device_numbers(serialized)
    if given is None:
        known = {device.id: device for device in client.devices()}
        missing = [number for number in numbers if number not in known]
        if missing:
            raise ValueError(errors.no_such_device(missing[0], sorted(known)))
        return tuple([known[number] for number in numbers])
    if any(device.client is not client for device in given):
        raise ValueError(errors.other_client(list(given), client.platform))
    if len(given) != len(numbers):
        raise ValueError(errors.other_number(len(numbers), len(given)))
    return tuple(given)
