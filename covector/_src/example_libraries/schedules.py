"""Step sizes, and norms of gradients, for `optimizers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import example_errors as errors
from ..base.tree import leaves
from ..base.tree import map as map_leaves
from ..numpy.contraction import vdot
from ..numpy.creation import array
from ..numpy.exponential import sqrt
from ..numpy.parts import floor
from ..numpy.promotion import shape_of
from ..numpy.reductions import sum as sum_of
from ..numpy.selection import minimum, where

Schedule = Callable[[Any], Any]


def constant(step_size: Any) -> Schedule:
    """The same step size always."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """A step size that is multiplied by `decay_rate` every `decay_steps` steps, continuously.

    >>> from covector.example_libraries import optimizers
    >>> optimizers.exponential_decay(1.0, 10, 0.5)(20)
    0.25
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """A step size divided by `1 + decay_rate * t`, with t the number of `decay_steps` so far.

    With `staircase` only whole numbers t count.

    >>> from covector.example_libraries import optimizers
    >>> optimizers.inverse_time_decay(1.0, 10, 1.0)(10)
    0.5
    """

    def schedule(i: Any) -> Any:
        t = i / decay_steps
        return step_size / (1 + decay_rate * (floor(t) if staircase else t))

    return schedule


def polynomial_decay(
    step_size: Any, decay_steps: Any, final_step_size: Any, power: Any = 1.0
) -> Schedule:
    """A step size that falls to `final_step_size` in `decay_steps` steps, and stays there.

    >>> from covector.example_libraries import optimizers
    >>> print(optimizers.polynomial_decay(1.0, 10, 0.5)(5))
    0.75
    """

    def schedule(step_num: Any) -> Any:
        left = 1 - minimum(step_num, decay_steps) / decay_steps
        return final_step_size + (step_size - final_step_size) * left**power

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """One step size up to each boundary, the next after it.

    Args:
      boundaries: a sequence of n numbers of steps, rising.
      values: a sequence of n + 1 step sizes.

    Raises:
      ValueError: the lengths do not fit.

    >>> from covector.example_libraries import optimizers
    >>> schedule = optimizers.piecewise_constant([10], [1.0, 0.5])
    >>> print(schedule(10), schedule(11))
    1.0 0.5
    """
    boundaries, values = array(boundaries), array(values)
    if boundaries.ndim != 1 or values.ndim != 1:
        raise ValueError(errors.boundaries())
    if boundaries.size != values.size - 1:
        raise ValueError(errors.boundary_count(boundaries.size, values.size))
    return lambda i: values[sum_of(i > boundaries)]


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A step size, or a function from the step to it, as such a function.

    Raises:
      TypeError: it is neither.
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if shape_of(scalar_or_schedule):
        raise TypeError(errors.schedule(scalar_or_schedule))
    return constant(scalar_or_schedule)


def l2_norm(tree: Any) -> Any:
    """The Euclidean norm of all elements of a tree together.

    >>> from covector.example_libraries import optimizers
    >>> print(optimizers.l2_norm({"a": 3.0, "b": 4.0}))
    5.0
    """
    return sqrt(sum([vdot(x, x) for x in leaves(tree)]))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """Gradients scaled so that their Euclidean norm is at most `max_norm`.

    >>> import covector.numpy as jnp
    >>> from covector.example_libraries import optimizers
    >>> optimizers.clip_grads(jnp.array([3.0, 4.0]), 1.0)
    Array([0.6, 0.8], dtype=float32)
    """
    norm = l2_norm(grad_tree)
    return map_leaves(lambda g: where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)
