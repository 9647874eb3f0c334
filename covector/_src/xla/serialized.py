"""Compiled programs as bytes, from which another process makes them again.

The bytes are a pickle, in which devices stand by their places in the order of the program, and
what XLA compiled as XLA writes it.  So a program can be loaded on other devices of the same kind.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.serialize_errors import bound_to_process, file_is_gone, spread_with_constants
from ..core.atoms import Var
from ..core.avals import AbstractValue
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr
from .array import put
from .callbacks import Launch
from .compile import Executable
from .gspmd import device_list_of
from .native import Client, Device
from .options import compile_options
from .placement import placement_on
from .spread import Spread
from .turns import InTurn


class Signature(NamedTuple):
    """What is known of a program besides its code.

    Attributes:
      name: of the function.
      arg_names: of the flat arguments, if known.
      in_avals, out_avals: the types of arguments and results.
      donated: for each argument, whether its memory may be reused.
    """

    name: str
    arg_names: tuple[str, ...] | None
    in_avals: list[AbstractValue]
    out_avals: list[AbstractValue]
    donated: tuple[bool, ...]

    def jaxpr(self) -> ClosedJaxpr:
        """A jaxpr of these types, in which nothing is computed: it cannot be evaluated."""
        info = DebugInfo("jit", self.name, self.arg_names)
        ins, outs = list(map(Var, self.in_avals)), list(map(Var, self.out_avals))
        return ClosedJaxpr(Jaxpr([], ins, outs, [], debug_info=info))


def serialize(executable: Executable, signature: Signature, device: Any) -> bytes:
    """A program as bytes.

    Args:
      executable: the program.
      signature: what else is known of it.
      device: the one on which it runs, or the first one.

    Raises:
      ValueError: it cannot do without this process, its constants are spread over devices, or it
        was loaded from a file that is gone.
    """
    if executable.keepalives or isinstance(executable._execute, Launch):
        raise ValueError(bound_to_process(executable.name))
    spread = executable.spread
    devices = (device,) if spread is None else spread.devices
    consts = executable._consts
    if consts and len(devices) > 1:
        types = [f"{x.dtype}{list(x.shape)}" for x in consts]
        raise ValueError(spread_with_constants(executable.name, types, len(devices)))
    parts = None if spread is None else (spread.mesh, spread.ins, spread.outs)
    program = _code(executable), executable.kept, list(map(np.asarray, consts)), parts
    file = io.BytesIO()
    pickle.dump([device.id for device in devices], file)
    _Pickler(file, devices).dump((tuple(signature), program))
    return file.getvalue()


def _code(executable: Executable) -> bytes:
    """What XLA compiled, as bytes."""
    code = executable.loaded.serialize() if executable.reread is None else executable.reread()
    if code is None:
        raise ValueError(file_is_gone(executable.name))
    return code


class _Pickler(pickle.Pickler):
    """Writes devices as their places."""

    def __init__(self, file: io.BytesIO, devices: Sequence[Any]):
        super().__init__(file)
        self._places = {device.id: place for place, device in enumerate(devices)}

    def persistent_id(self, obj: Any) -> Any:
        return self._places[obj.id] if isinstance(obj, Device) else None


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` wrote, for other devices."""

    def __init__(self, file: io.BytesIO, devices: tuple[Any, ...]):
        super().__init__(file)
        self._devices = devices

    def persistent_load(self, pid: Any) -> Any:
        return self._devices[pid]


def device_numbers(serialized: bytes) -> list[int]:
    """The numbers of the devices for which a program was compiled."""
    return pickle.load(io.BytesIO(serialized))


def deserialize(
    serialized: bytes, client: Client, devices: tuple[Any, ...]
) -> tuple[Executable, Signature]:
    """The program that `serialize` wrote, on as many devices as it had.

    Args:
      serialized: the bytes, from somebody whom one trusts: what is in them is executed.
      client: of the devices.
      devices: where it is to run.
    """
    file = io.BytesIO(serialized)
    pickle.load(file)
    fields, (code, kept, consts, parts) = _Unpickler(file, devices).load()
    signature = Signature(*fields)
    spread = None if parts is None else Spread(devices, *parts)
    chooses = [s is None for s in spread.outs] if spread is not None and len(devices) > 1 else []
    options = compile_options(devices, None, chooses_results=chooses)
    loaded = client.deserialize_executable(code, device_list_of(devices), options)
    place = placement_on(devices[0], False)
    buffers = [put(x, place)._buffer for x in consts]
    executable = Executable(
        *(signature.name, loaded, signature.jaxpr(), kept, buffers, devices[0]), spread=spread
    )
    executable.reread = lambda: code
    if len(devices) > 1 and devices[0].platform == "cpu":
        executable._execute = InTurn(executable._execute)
    return executable, signature
