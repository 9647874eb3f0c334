"""The file format of exported programs.

    bytes   content
    8       the signature: these files begin as no others do, and not as text
    4       the version of the format, the least significant byte first
    8       the length of the header
    ...     the header: JSON in UTF-8
    ...     the programs, one after another, as the header says how long each is
    4       CRC-32 of all before

Nothing in it is executable by Python: no code, no pickled objects, no names to import. A reader
takes what it knows from the header and ignores other entries, so that a later version of the format
is needed only when old readers would misunderstand a file.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..base import export_errors as errors
from ..base.dim_parser import parse
from ..base.dim_scope import SymbolicScope
from ..base.dims import Dim
from ..base.keys import KeyTy, generators, key_type
from ..core.avals import ShapedArray
from ..core.effects import Effect
from .safety import DisabledSafetyCheck
from .trees import decoded_tree, encoded_tree

if TYPE_CHECKING:
    from .exported import Exported

SIGNATURE = b"\x89CVXP\r\n\x1a"
FORMAT_VERSION = 1

_FRONT = struct.Struct("<8sIQ")
_CHECK = struct.Struct("<I")


def encode(exported: Exported, vjp_order: int) -> bytes:
    """An exported program as bytes, with its derivatives up to an order."""
    programs: list[bytes] = []
    header = _header(exported, vjp_order, programs)
    header["programs"] = [len(program) for program in programs]
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    data = b"".join([_FRONT.pack(SIGNATURE, FORMAT_VERSION, len(text)), text, *programs])
    return data + _CHECK.pack(zlib.crc32(data))


def _header(exported: Exported, vjp_order: int, programs: list[bytes]) -> dict[str, Any]:
    """What the header says of a program; the programs themselves are added to a list."""
    vjp = None
    if vjp_order > 0:
        if not exported.has_vjp():
            raise ValueError(errors.no_vjp_to_serialize(exported.fun_name))
        vjp = exported.vjp()
    modules = [exported.module_for(platform) for platform in exported.platforms]
    programs += [module for module in dict.fromkeys(modules) if module not in programs]
    return {
        "fun_name": exported.fun_name,
        "in_tree": encoded_tree(exported.in_tree),
        "constraints": exported.constraints,
        "in_avals": list(map(_encoded_aval, exported.in_avals)),
        "out_tree": encoded_tree(exported.out_tree),
        "out_avals": list(map(_encoded_aval, exported.out_avals)),
        "nr_devices": exported.nr_devices,
        "platforms": list(exported.platforms),
        "ordered_effects": list(map(_encoded_effect, exported.ordered_effects)),
        "unordered_effects": list(map(_encoded_effect, exported.unordered_effects)),
        "disabled_safety_checks": list(map(str, exported.disabled_safety_checks)),
        "calling_convention_version": exported.calling_convention_version,
        "module_kept_var_idx": list(exported.module_kept_var_idx),
        "modules": [programs.index(module) for module in modules],
        "vjp": vjp and _header(vjp, vjp_order - 1, programs),
    }


def decode(data: bytes) -> dict[str, Any]:
    """The fields of an exported program, and under "vjp" those of its derivative, or None.

    Raises:
      ValueError: the bytes are no such program, are damaged, of a later version of the format, or
        need types and effects that are not known here.
    """
    header, programs = _parts(data)
    try:
        return _fields(header, programs)
    except (KeyError, IndexError, TypeError, StopIteration) as error:
        raise ValueError(errors.damaged(f"its header lacks something ({error!r})")) from error


def _parts(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the programs."""
    if len(data) < len(SIGNATURE) or not data.startswith(SIGNATURE):
        raise ValueError(errors.not_ours(data[: len(SIGNATURE)]))
    if len(data) < _FRONT.size + _CHECK.size:
        raise ValueError(errors.damaged(f"it has {len(data)} bytes"))
    _, version, length = _FRONT.unpack_from(data)
    if version > FORMAT_VERSION:
        raise ValueError(errors.format_too_new(version, FORMAT_VERSION))
    content = data[: -_CHECK.size]
    if _CHECK.unpack_from(data, len(content))[0] != zlib.crc32(content):
        raise ValueError(errors.damaged("its checksum is wrong"))
    header = json.loads(content[_FRONT.size : _FRONT.size + length])
    return header, list(_programs(content[_FRONT.size + length :], header["programs"]))


def _programs(data: bytes, lengths: list[int]) -> Iterator[bytes]:
    start = 0
    for length in lengths:
        yield data[start : start + length]
        start += length


def _fields(header: dict[str, Any], programs: list[bytes]) -> dict[str, Any]:
    scope = SymbolicScope(header["constraints"])
    in_avals = tuple(_decoded_aval(code, scope) for code in header["in_avals"])
    out_avals = tuple(_decoded_aval(code, scope) for code in header["out_avals"])
    checks = header["disabled_safety_checks"]
    return {
        "fun_name": header["fun_name"],
        "in_tree": decoded_tree(header["in_tree"], in_avals),
        "in_avals": in_avals,
        "out_tree": decoded_tree(header["out_tree"], out_avals),
        "out_avals": out_avals,
        "nr_devices": header["nr_devices"],
        "platforms": tuple(header["platforms"]),
        "ordered_effects": tuple(map(_decoded_effect, header["ordered_effects"])),
        "unordered_effects": tuple(map(_decoded_effect, header["unordered_effects"])),
        "disabled_safety_checks": tuple(map(DisabledSafetyCheck, checks)),
        "calling_convention_version": header["calling_convention_version"],
        "module_kept_var_idx": tuple(header["module_kept_var_idx"]),
        "modules": tuple(programs[i] for i in header["modules"]),
        "vjp": header["vjp"] and _fields(header["vjp"], programs),
    }


# ---------------------------------------------------------------- types


def _encoded_aval(aval: ShapedArray) -> list[Any]:
    shape = [str(size) if isinstance(size, Dim) else size for size in aval.shape]
    return [_encoded_dtype(aval.dtype), shape, aval.weak_type]


def _decoded_aval(code: list[Any], scope: SymbolicScope) -> ShapedArray:
    dtype, sizes, weak_type = code
    shape = [parse(size, None, scope)[0] if isinstance(size, str) else size for size in sizes]
    return ShapedArray(shape, _decoded_dtype(dtype), weak_type)


def _encoded_dtype(dtype: Any) -> str:
    if dtype == dtypes.float0:
        return "float0"
    if isinstance(dtype, KeyTy) and dtype._impl.name in generators:
        return f"key<{dtype._impl.name}>"
    if isinstance(dtype, np.dtype) and dtypes.is_supported(dtype):
        return dtype.name
    raise ValueError(errors.unserializable_dtype(dtype))


def _decoded_dtype(name: str) -> Any:
    if name == "float0":
        return dtypes.float0
    if name.startswith("key<"):
        return key_type(generators[name[len("key<") : -1]])
    return np.dtype(getattr(dtypes.ml_dtypes, name, name))


# ---------------------------------------------------------------- effects


def _encoded_effect(effect: Effect) -> str:
    """The name of an effect's class, of which an instance made without arguments must be equal."""
    kind = type(effect)
    try:
        again = kind()
    except TypeError:
        raise ValueError(errors.effect_without_constructor(kind)) from None
    if again != effect:
        raise ValueError(errors.effect_not_equal(kind))
    return _name_of(kind)


def _decoded_effect(name: str) -> Effect:
    for kind in _subclasses(Effect):
        if _name_of(kind) == name:
            return kind()
    raise ValueError(errors.effect_unknown(name))


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _subclasses(kind: type) -> Iterator[type]:
    for derived in kind.__subclasses__():
        yield derived
        yield from _subclasses(derived)
