"""`shard_map` as a primitive: one program that runs on all devices of a mesh, each on its parts.

Its jaxpr is that of a single device, and takes and returns parts of arrays.  Specifications say
which: along each dimension of an operand the axes of the mesh that cut it, and of a result those
along which parts are put together.  Along axes that a specification leaves out, all devices have
the same part of an operand; and of a result all have the same, of which one is taken.

Transposition.  Let the devices d hold parts x_d = S_d x of an operand, and let y be made of y_d.
Where no axis is left out, S takes arrays apart, and its transpose puts them together.  An axis of n
devices that is left out means copies:

    in :  x -> (x, ..., x)                  transposed   (ct_1, ..., ct_n) -> ct_1 + ... + ct_n
    out:  (y, ..., y) -> y                  transposed   ct -> (ct, ..., ct) / n

For the second the program may return any of the equal y_d, as it were their mean, whose transpose
that is; any other choice of weights of sum 1 would do as well, since the sums that the program
itself contains (`psum`, whose transpose is `psum`) see only the total of the cotangents.  That is
how programs are transposed of whose values nothing is known, `check_vma=False`.

Where types tell which values vary (`ops/varying.py`), a value that does not is one value, however
many devices hold it, and so is its cotangent.  The casts and sums in the program are where copies
are made and put together, and have these transposes themselves: nothing is added here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..base import shard_map_errors as errors
from ..base.errors import JaxprTypeError
from ..core.avals import ShapedArray, aval_of, with_vma
from ..core.axis import Axis, ManualAxis, manual_axes
from ..core.effects import Effects, NamedAxisEffect
from ..core.fusion import BOUNDARY
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..core.primitive import BuiltinPrimitive
from ..core.trace import context, named_axes
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import div_p
from ..ops.collectives_reduce import psum_p
from ..ops.linear import constant_like, move_axis, reshape
from ..sharding.current import use, use_again
from ..sharding.mesh import AxisType, Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import PartialTrace, partial_eval_jaxpr
from ..transforms.simplify import drop_unused
from ..transforms.stage import reduced_within, vary_jaxpr, write_down
from ..transforms.transpose import transpose_jaxpr
from ..transforms.vmap import BatchTrace, vmap_jaxpr

Specs = tuple[PartitionSpec, ...]


class ShardMap(BuiltinPrimitive):
    """Apply `jaxpr` on each device of `mesh` to its parts of the operands.

    Parameters:
      jaxpr: the program of one device, without constants.
      in_specs, out_specs: a specification for each operand and for each result.
      mesh: the mesh.
      newly_manual_axes: the axes that the program is mapped over.
      check_vma: whether the types in the jaxpr tell which values vary along them.
    """

    multiple_results = True
    fusion = BOUNDARY._replace(bodies=("jaxpr",))

    def uses_axis(self, name, params):
        return name not in params["newly_manual_axes"] and super().uses_axis(name, params)

    def scope(self, params):
        return axes_in_scope(params["mesh"], params["newly_manual_axes"], params["check_vma"])

    def places(self, params):
        mesh = params["mesh"]
        return (mesh,) if isinstance(mesh, Mesh) else ()

    def result_shardings(self, params):
        mesh = params["mesh"]
        whole = len(params["newly_manual_axes"]) == len(mesh.axis_names)
        if not whole or not isinstance(mesh, Mesh) or mesh.size == 1:
            return None
        return [NamedSharding(mesh, spec) for spec in params["out_specs"]]

    def check_operands(self, avals, params):
        wanted = params["jaxpr"].in_avals
        given = [part_aval(a, s, params) for a, s in zip(avals, params["in_specs"])]
        if len(avals) != len(wanted) or any(
            a.shape != b.shape or a.dtype != b.dtype for a, b in zip(given, wanted)
        ):
            raise JaxprTypeError(errors.wrong_parts(wanted, given))

    def typecheck(self, avals, params):
        return self.effectful_abstract_eval(*avals, **params)

    def retype(self, params, vmas):
        parts = [vma | inner_vma(spec, params) for vma, spec in zip(vmas, params["in_specs"])]
        with self.scope(params):
            jaxpr = vary_jaxpr(params["jaxpr"], tuple(parts))
        return params if jaxpr is params["jaxpr"] else params | dict(jaxpr=jaxpr), vmas

    def effectful_abstract_eval(self, *avals, **params):
        jaxpr, specs = params["jaxpr"], params["out_specs"]
        outs = [whole_aval(aval, spec, params) for aval, spec in zip(jaxpr.out_avals, specs)]
        return outs, outer_effects(jaxpr.effects, params)

    def evaluate(self, backend, args, params):
        return backend.execute_body(params["jaxpr"], self, args, params)

    def jvp(self, primals, tangents, **params):
        jaxpr = params["jaxpr"]
        nonzeros = tuple([type(t) is not Zero for t in tangents])
        with self.scope(params):
            both, out_nonzeros = jvp_jaxpr(jaxpr, nonzeros, False)
        given = [t for t in tangents if type(t) is not Zero]
        in_specs, out_specs = params["in_specs"], params["out_specs"]
        outs = self.bind(
            *primals,
            *given,
            **params
            | dict(
                jaxpr=both,
                in_specs=(*in_specs, *_where(nonzeros, in_specs)),
                out_specs=(*out_specs, *_where(out_nonzeros, out_specs)),
            ),
        )
        count = len(out_specs)
        out_tangents = iter(outs[count:])
        return outs[:count], [
            next(out_tangents) if nonzero else Zero(aval_of(out).to_tangent_aval())
            for out, nonzero in zip(outs, out_nonzeros)
        ]

    def partial_eval(self, trace: PartialTrace, args, params):
        unknowns = tuple([trace.is_unknown(x) for x in args])
        in_specs, out_specs = params["in_specs"], params["out_specs"]
        with self.scope(params):
            parts = split_parts(params["jaxpr"], unknowns, _readable(params))
            cut = batch_names(trace)
            varying = [residual_axes(aval, params, cut) for aval in parts.residuals]
            specs = [spec_of_line(names) for names in varying]
            lines = tuple(
                [bool(names) and not aval.ndim for names, aval in zip(varying, parts.residuals)]
            )
            known = with_lines(parts.known, (), lines)
            unknown = with_lines(parts.unknown, parts.lines_of(lines), ())
        known_args, known_specs = [_where([not u for u in unknowns], xs) for xs in (args, in_specs)]
        out_unknowns = parts.out_unknowns
        known_outs = trace.parent.process(
            self,
            list(known_args),
            params
            | dict(
                jaxpr=known,
                in_specs=known_specs,
                out_specs=(*_where([not u for u in out_unknowns], out_specs), *specs),
            ),
        )
        count = out_unknowns.count(False)
        values = {
            "input": list(zip(known_args, known_specs)),
            "result": list(zip(known_outs, _where([not u for u in out_unknowns], out_specs))),
            "residual": list(zip(known_outs[count:], specs)),
        }
        residuals = [values[kind][i] for kind, i in parts.sources]
        unknown_outs = iter(
            trace.unknown.process(
                self,
                [*[x for x, _ in residuals], *_where(unknowns, args)],
                params
                | dict(
                    jaxpr=unknown,
                    in_specs=(*[spec for _, spec in residuals], *_where(unknowns, in_specs)),
                    out_specs=_where(out_unknowns, out_specs),
                ),
            )
        )
        known_results = iter(known_outs)
        return [next(unknown_outs if u else known_results) for u in out_unknowns]

    def prune(self, eqn, used):
        params = eqn.params
        with self.scope(params):
            jaxpr, kept = drop_unused(params["jaxpr"], tuple(used))
        if jaxpr is params["jaxpr"]:
            return eqn
        return eqn.replace(
            invars=[eqn.invars[i] for i in kept],
            outvars=list(_where(used, eqn.outvars)),
            params=params
            | dict(
                jaxpr=jaxpr,
                in_specs=tuple([params["in_specs"][i] for i in kept]),
                out_specs=_where(used, params["out_specs"]),
            ),
            effects=outer_effects(jaxpr.effects, params),
        )

    def transpose(self, cts, *args, **params):
        linear = tuple([type(x) is UndefinedPrimal for x in args])
        nonzero_cts = tuple([type(ct) is not Zero for ct in cts])
        values = tuple([not lin for lin in linear])
        in_specs, out_specs = params["in_specs"], params["out_specs"]
        cut = batch_names(context.trace)
        with self.scope(params):
            transposed, nonzeros, hazards = transpose_jaxpr(params["jaxpr"], linear, nonzero_cts)
            results = _where(nonzeros, _where(linear, in_specs))
            if not params["check_vma"]:
                copies = tuple([copied_axes(spec, params, cut) for spec in results])
                transposed = with_sums(transposed, copies)
            transposed = with_out_specs(transposed, results, params)
            transposed, kept = drop_unused(transposed, (True,) * len(transposed.out_avals))
        specs = (*_where(values, in_specs), *_where(nonzero_cts, out_specs))
        operands = [*_where(values, args)]
        operands += [
            _one_of_copies(ct, spec, params, cut)
            for ct, spec in zip(cts, out_specs)
            if type(ct) is not Zero
        ]
        outs = iter(
            self.bind(
                *[operands[i] for i in kept],
                **params
                | dict(
                    jaxpr=transposed,
                    in_specs=tuple([specs[i] for i in kept]),
                    out_specs=results,
                ),
            )
        )
        nonzero, hazard = iter(nonzeros), iter(hazards)
        context.hazards_of_each = [next(hazard) if lin else 0 for lin in linear]
        return [
            None if not lin else next(outs) if next(nonzero) else Zero(x.aval.to_cotangent_aval())
            for x, lin in zip(args, linear)
        ]

    def vmap(self, axis, dims, *args, **params):
        batched = tuple([dim is not None for dim in dims])
        args = [x if dim is None else move_axis(x, dim, 0) for x, dim in zip(args, dims)]
        names = batch_axes(axis, params)
        inner = axis._replace(size=axis.size // math.prod([params["mesh"].shape[n] for n in names]))
        with self.scope(params):
            vmas = [
                aval.vma | (frozenset(names) if b and params["check_vma"] else frozenset())
                for aval, b in zip(params["jaxpr"].in_avals, batched)
            ]
            jaxpr = vary_jaxpr(params["jaxpr"], tuple(vmas)) if names else params["jaxpr"]
            mixed = {*names}.intersection(reduced_within({"jaxpr": jaxpr}))
            if mixed:
                raise ValueError(errors.examples_mixed(sorted(mixed, key=str)))
            mapped, out_batched = vmap_jaxpr(jaxpr, inner, batched, False)
        outs = self.bind(
            *args,
            **params
            | dict(
                jaxpr=mapped,
                in_specs=_with_batch(params["in_specs"], batched, names),
                out_specs=_with_batch(params["out_specs"], out_batched, names),
            ),
        )
        return outs, [0 if b else None for b in out_batched]

    def emit(self, b, *operands, jaxpr, in_specs, out_specs, mesh, newly_manual_axes, check_vma):
        return b.manual_computation(mesh, newly_manual_axes, jaxpr, operands, in_specs, out_specs)


shard_map_p = ShardMap("shard_map")


# ---------------------------------------------------------------- types and specifications


@contextmanager
def axes_in_scope(mesh: Any, names: Any, checked: bool) -> Iterator[None]:
    """Brings axes of a mesh into scope."""
    around, sizes = manual_axes(), mesh.shape
    axes = [ManualAxis(n, sizes[n], checked, mesh) for n in mesh.axis_names if n in names]
    manual = {axis.name: AxisType.Manual for axis in (*around, *axes)}
    before = use(abstract_mesh=mesh.abstract_mesh.update_axis_types(manual))
    try:
        with named_axes(*axes):
            yield
    finally:
        use_again(before)


def part_aval(aval: Any, spec: PartitionSpec, params: dict[str, Any]) -> Any:
    """The type of a device's part of an array."""
    if not isinstance(aval, ShapedArray):
        return aval
    sizes = params["mesh"].shape
    cuts = [math.prod([sizes[name] for name in spec.axes_of(i)]) for i in range(aval.ndim)]
    part = aval.update(shape=tuple([n // cut for n, cut in zip(aval.shape, cuts)]))
    return with_vma(part, aval.vma | inner_vma(spec, params))


def whole_aval(aval: Any, spec: PartitionSpec, params: dict[str, Any]) -> Any:
    """The type of the array that the devices' parts make."""
    if not isinstance(aval, ShapedArray):
        return aval
    sizes = params["mesh"].shape
    cuts = [math.prod([sizes[name] for name in spec.axes_of(i)]) for i in range(aval.ndim)]
    whole = aval.update(shape=tuple([n * cut for n, cut in zip(aval.shape, cuts)]))
    return with_vma(whole, aval.vma - params["newly_manual_axes"])


def with_out_specs(jaxpr: ClosedJaxpr, specs: Specs, params: dict[str, Any]) -> ClosedJaxpr:
    """The program of one device with results that vary along the axes that cut the whole ones.

    What all devices have the same of, and is put together of their copies, is cast: a cotangent
    comes from each of the copies.
    """
    vmas = tuple([aval.vma for aval in jaxpr.in_avals])
    return vary_jaxpr(jaxpr, vmas, tuple([inner_vma(spec, params) for spec in specs]))


def inner_vma(spec: PartitionSpec, params: dict[str, Any]) -> frozenset[Any]:
    """Along which axes the parts of an operand vary, as far as types tell."""
    return frozenset(spec.names()) if params["check_vma"] else frozenset()


def outer_effects(effects: Effects, params: dict[str, Any]) -> Effects:
    """The effects of the program of one device that its `shard_map` has."""
    mapped = set(map(NamedAxisEffect, params["newly_manual_axes"]))
    return frozenset(effects - mapped)


def copied_axes(
    spec: PartitionSpec, params: dict[str, Any], cut: Iterable[Any] = ()
) -> tuple[Any, ...]:
    """The axes along which all devices have the same part; not those that cut batches."""
    names = {*spec.names(), *cut}
    manual = params["newly_manual_axes"]
    return tuple([n for n in params["mesh"].axis_names if n in manual and n not in names])


def _where(flags: Sequence[bool], xs: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([x for x, flag in zip(xs, flags) if flag])


# ---------------------------------------------------------------- partial evaluation


class Parts(NamedTuple):
    """The program of one device in two halves.

    Attributes:
      known: from the known inputs to the known results, then the residuals.
      unknown: takes values for the sources, then the unknown inputs.
      residuals: the types of the residuals.
      sources: where each value comes from, `"input"`, `"result"` or `"residual"`, and which of the
        known inputs, known results or residuals it is.
      out_unknowns: for each result, whether the second half gives it.
    """

    known: ClosedJaxpr
    unknown: ClosedJaxpr
    residuals: list[Any]
    sources: list[tuple[str, int]]
    out_unknowns: tuple[bool, ...]

    def lines_of(self, lines: Sequence[bool]) -> tuple[bool, ...]:
        """For each source, whether it is a residual of which `lines` says something."""
        return tuple([kind == "residual" and lines[i] for kind, i in self.sources])


@jaxpr_cache
def split_parts(jaxpr: ClosedJaxpr, unknowns: tuple[bool, ...], whole: tuple[bool, ...]) -> Parts:
    """Split a program; the second half reads known inputs and results where it needs them.

    Args:
      jaxpr: the program.
      unknowns: for each input, whether it is unknown.
      whole: for each result, whether all parts of it are there to be read.
    """
    known, unknown, out_unknowns, _ = partial_eval_jaxpr(jaxpr, unknowns, False)
    count = out_unknowns.count(False)
    body, readable = known.jaxpr, _where([not u for u in out_unknowns], whole)
    found = {id(x): ("result", i) for i, x in enumerate(body.outvars[:count]) if readable[i]}
    found |= {id(x): ("input", i) for i, x in enumerate(body.invars)}
    sources: list[tuple[str, int]] = []
    kept: list[Any] = []
    for atom in body.outvars[count:]:
        if id(atom) not in found:
            found[id(atom)] = "residual", len(kept)
            kept.append(atom)
        sources.append(found[id(atom)])
    smaller = known.replace(jaxpr=body.replace(outvars=[*body.outvars[:count], *kept]))
    return Parts(smaller, unknown, [atom.aval for atom in kept], sources, out_unknowns)


def _readable(params: dict[str, Any]) -> tuple[bool, ...]:
    """For each result, whether all parts of it are put together, and none is dropped as a copy."""
    if params["check_vma"]:
        return (True,) * len(params["out_specs"])
    return tuple([not copied_axes(spec, params) for spec in params["out_specs"]])


def residual_axes(aval: Any, params: dict[str, Any], cut: set[Any]) -> tuple[Any, ...]:
    """Along which axes a residual may vary: those its type tells, or if it tells nothing, all but
    those that cut batches, of which it belongs to one example."""
    manual = params["newly_manual_axes"]
    axes = manual & aval.vma if params["check_vma"] else manual - cut
    return tuple(
        [n for n in params["mesh"].axis_names if n in axes and n in params["newly_manual_axes"]]
    )


def batch_names(trace: Any) -> set[Any]:
    """The axes of meshes that cut the batches of the vmaps around a trace."""
    names: set[Any] = set()
    while trace is not None:
        if type(trace) is BatchTrace:
            names.update(spmd_names(trace.axis))
        trace = trace.parent
    return names


def spec_of_line(axes: tuple[Any, ...]) -> PartitionSpec:
    """Parts one behind the other along the first dimension."""
    return PartitionSpec(axes) if axes else PartitionSpec()


@jaxpr_cache
def with_lines(jaxpr: ClosedJaxpr, first: tuple[bool, ...], last: tuple[bool, ...]) -> ClosedJaxpr:
    """A program in which some scalars travel as arrays of one element.

    Args:
      jaxpr: the program.
      first: which of its first inputs do.
      last: which of its last outputs do.
    """
    if not any(first) and not any(last):
        return jaxpr

    def fun(*args: Any) -> list[Any]:
        args = (*[reshape(x, ()) if f else x for x, f in zip(args, first)], *args[len(first) :])
        outs = jaxpr_as_fun(jaxpr)(*args)
        count = len(outs) - len(last)
        return [*outs[:count], *[reshape(x, (1,)) if f else x for x, f in zip(outs[count:], last)]]

    avals: list[Any] = list(jaxpr.in_avals)
    for i, is_line in enumerate(first):
        if is_line:
            avals[i] = avals[i].update(shape=(1,))
    return ClosedJaxpr(*write_down(fun, avals, jaxpr.jaxpr.debug_info))


# ---------------------------------------------------------------- transposition


@jaxpr_cache
def with_sums(jaxpr: ClosedJaxpr, axes: tuple[tuple[Any, ...], ...]) -> ClosedJaxpr:
    """A program whose results are added up over axes that are given for each."""
    if not any(axes):
        return jaxpr

    def fun(*args: Any) -> list[Any]:
        outs = jaxpr_as_fun(jaxpr)(*args)
        return [
            psum_p.bind(x, axes=names, axis_index_groups=None) if names else x
            for x, names in zip(outs, axes)
        ]

    return ClosedJaxpr(*write_down(fun, jaxpr.in_avals, jaxpr.jaxpr.debug_info))


def _one_of_copies(ct: Any, spec: PartitionSpec, params: dict[str, Any], cut: set[Any]) -> Any:
    """The cotangent of what one device returns of which all devices return the same."""
    if params["check_vma"]:
        return ct
    sizes = params["mesh"].shape
    copies = math.prod([sizes[name] for name in copied_axes(spec, params, cut)])
    return div_p.bind(ct, constant_like(ct, copies)) if copies > 1 else ct


# ---------------------------------------------------------------- batches


def spmd_names(axis: Axis) -> tuple[Any, ...]:
    """The axes of meshes that a vmap names for its batch."""
    spmd = axis.spmd_name
    return () if spmd is None else spmd if isinstance(spmd, tuple) else (spmd,)


def batch_axes(axis: Axis, params: dict[str, Any]) -> tuple[Any, ...]:
    """The axes of the mesh that cut the batch of a vmap, as its `spmd_axis_name` says."""
    names = tuple([n for n in spmd_names(axis) if n in params["newly_manual_axes"]])
    used = {name for spec in (*params["in_specs"], *params["out_specs"]) for name in spec.names()}
    if used.intersection(names):
        raise ValueError(errors.spmd_axis_in_use(names, params["in_specs"], params["out_specs"]))
    size = math.prod([params["mesh"].shape[name] for name in names])
    if axis.size % size:
        raise ValueError(errors.batch_not_divisible(axis.size, names, size))
    return names


def _with_batch(specs: Specs, batched: Sequence[bool], names: tuple[Any, ...]) -> Specs:
    return tuple([PartitionSpec(names, *spec) if b else spec for spec, b in zip(specs, batched)])
