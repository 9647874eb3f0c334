"""`select_and_scatter`: put values where a function finds the best element of each window.

The sum of what maxima or minima find has a primitive of its own (`ops/windows_selection.py`), with
all its rules.  This one, whose functions are jaxprs, is for programs that are written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..core.check import check_applied
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..ops.arithmetic import add
from ..ops.base import Op, Sample, draw
from ..ops.comparison import ge
from ..ops.joining import apply_to_each
from ..ops.linear import bring_to
from ..ops.windows_family import check_windows, window_attributes, window_params, with_batch
from ..ops.windows_reference import windows_of
from ..transforms.stage import stage_closed

WINDOW = ("window_dimensions", "window_strides", "padding")


class SelectAndScatter(Op):
    """Scatter each element of `source` to where the operand is selected, in its window.

    An element stays selected as long as `select_jaxpr` prefers it to the next; what meets at one
    place is combined by `scatter_jaxpr`, beginning with the initial value.
    """

    def shape(
        self,
        operand,
        source,
        init_value,
        *,
        select_jaxpr,
        select_consts,
        scatter_jaxpr,
        scatter_consts,
        **window,
    ):
        element = operand.update(shape=())
        check_applied(ClosedJaxpr(select_jaxpr, select_consts), (element, element))
        check_applied(ClosedJaxpr(scatter_jaxpr, scatter_consts), (init_value, init_value))
        check_windows(self.name, operand.shape, **window_params(**window))
        return operand.shape

    def ref(
        self,
        operand,
        source,
        init_value,
        *,
        select_jaxpr,
        select_consts,
        scatter_jaxpr,
        scatter_consts,
        **window,
    ):
        select = jaxpr_as_fun(ClosedJaxpr(select_jaxpr, select_consts))
        scatter = jaxpr_as_fun(ClosedJaxpr(scatter_jaxpr, scatter_consts))
        n, window = operand.ndim, window_params(**window)
        indices = np.arange(operand.size).reshape(operand.shape)
        views = windows_of(indices, -1, **window)
        out = np.full(operand.size, init_value, operand.dtype)
        for place in np.ndindex(*views.shape[:n]):
            inside = [i for i in views[place].reshape(-1) if i >= 0]
            best = inside[0]
            for i in inside[1:]:
                (stays,) = select(operand.reshape(-1)[best], operand.reshape(-1)[i])
                best = best if stays else i
            (out[best],) = scatter(out[best], source[place])
        return out.reshape(operand.shape)

    def vmap(self, axis, dims, operand, source, init_value, **params):
        jaxprs = {what: value for what, value in params.items() if what not in WINDOW}
        window = {what: params[what] for what in WINDOW}
        if dims[2] is not None:  # XLA begins with one value, the same for all
            return apply_to_each(self, axis, dims, (operand, source, init_value), params)[0], 0
        operand, source = [
            bring_to(x, axis.size, dim, 0) for x, dim in zip((operand, source), dims)
        ]
        return self.bind(operand, source, init_value, **jaxprs, **with_batch(window, 0)), 0

    def emit(
        self,
        b,
        operand,
        source,
        init_value,
        *,
        select_jaxpr,
        select_consts,
        scatter_jaxpr,
        scatter_consts,
        **window,
    ):
        scalar = b.avals_in[0].update(shape=())

        def region(jaxpr: Any, consts: Any) -> Any:
            return (scalar, scalar), lambda *xs: b.inline(ClosedJaxpr(jaxpr, consts), xs)

        (out,) = b.op_with_regions(
            "select_and_scatter",
            [operand, source, init_value],
            [region(select_jaxpr, select_consts), region(scatter_jaxpr, scatter_consts)],
            **window_attributes(window),
        )
        return out

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        element = aval_of(np.float32(0))
        select = stage_closed(lambda x, y: [ge(x, y)], (element, element))
        scatter = stage_closed(lambda x, y: [add(x, y)], (element, element))
        jaxprs = dict(
            select_jaxpr=select.jaxpr,
            select_consts=(),
            scatter_jaxpr=scatter.jaxpr,
            scatter_consts=(),
        )
        for shape, places, sizes in [
            ((6,), (3,), (2,)),
            ((5, 4), (2, 2), (2, 2)),
            ((0, 2), (0, 1), (1, 2)),
        ]:
            window = dict(
                window_dimensions=sizes, window_strides=sizes, padding=((0, 0),) * len(sizes)
            )
            args = (draw(rng, shape, "float32"), draw(rng, places, "float32"), np.float32(0))
            yield Sample(args, jaxprs | window, constant=(0, 1, 2))


select_and_scatter_p = SelectAndScatter("select_and_scatter")
