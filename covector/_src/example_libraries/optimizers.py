"""First-order optimizers as triples of functions.

An optimizer is written for one array: `init` makes a state of it, `update` takes the step, the
gradient and the state to the next state, and `get_params` reads the array off a state.  The
decorator `optimizer` makes it one for trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce, wraps
from typing import Any, NamedTuple

from ..base import example_errors as errors
from ..base import tree
from ..base.tree_registry import register_pytree_node
from ..numpy.creation import asarray, zeros, zeros_like
from ..numpy.exponential import sqrt
from ..numpy.reductions import max as max_of
from ..numpy.selection import maximum, minimum, where
from ..numpy.shaping import atleast_1d, expand_dims
from .schedules import make_schedule

Step = Any
Params = Any
InitFn = Callable[[Params], "OptimizerState"]
UpdateFn = Callable[[Step, Params, "OptimizerState"], "OptimizerState"]
ParamsFn = Callable[["OptimizerState"], Params]


class OptimizerState(NamedTuple):
    """The states of an optimizer for all arrays of a tree.

    Attributes:
      packed_state: the leaves of each array's state.
      tree_def: the structure of the tree of parameters.
      subtree_defs: the structure of each array's state.
    """

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


def _flatten_state(state: OptimizerState) -> tuple[Any, Any]:
    return (state.packed_state,), (state.tree_def, tuple(state.subtree_defs))


def _unflatten_state(structure: Any, children: Any) -> OptimizerState:
    return OptimizerState(children[0], structure[0], list(structure[1]))


register_pytree_node(OptimizerState, _flatten_state, _unflatten_state)


class Optimizer(NamedTuple):
    """An optimizer.

    Attributes:
      init_fn: a tree of parameters to the state to begin with.
      update_fn: the step, a tree of gradients and a state to the next state.
      params_fn: a state to the tree of parameters.
    """

    init_fn: InitFn
    update_fn: UpdateFn
    params_fn: ParamsFn


def _packed(states: list[Any], treedef: Any) -> OptimizerState:
    flat = [tree.flatten(state) for state in states]
    return OptimizerState([leaves for leaves, _ in flat], treedef, [kind for _, kind in flat])


def _unpacked(state: OptimizerState) -> list[Any]:
    return [
        tree.unflatten(kind, leaves)
        for kind, leaves in zip(state.subtree_defs, state.packed_state, strict=True)
    ]


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """Decorator: make an optimizer of trees from one of single arrays.

    Args:
      opt_maker: takes the options, returns `(init, update, get_params)` for an array. States are
        trees of arrays.

    Returns:
      A function of the same options that returns an `Optimizer`.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.example_libraries import optimizers
    >>> @optimizers.optimizer
    ... def signs(size):
    ...     return lambda x: x, lambda i, g, x: x - size * jnp.sign(g), lambda x: x
    >>> init, update, get_params = signs(0.5)
    >>> get_params(update(0, {"w": jnp.array([3.0])}, init({"w": jnp.array([1.0])})))
    {'w': Array([0.5], dtype=float32)}
    """

    @wraps(opt_maker)
    def make(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        @wraps(init)
        def tree_init(params: Any) -> OptimizerState:
            leaves, treedef = tree.flatten(params)
            return _packed([init(x) for x in leaves], treedef)

        @wraps(update)
        def tree_update(i: Step, grads: Any, state: OptimizerState) -> OptimizerState:
            leaves, treedef = tree.flatten(grads)
            if treedef != state.tree_def:
                raise TypeError(errors.gradient_tree(state.tree_def, treedef))
            states = [update(i, g, s) for g, s in zip(leaves, _unpacked(state), strict=True)]
            new = _packed(states, treedef)
            for before, after in zip(state.subtree_defs, new.subtree_defs, strict=True):
                if before != after:
                    raise TypeError(errors.state_tree(before, after))
            return new

        @wraps(get_params)
        def tree_params(state: OptimizerState) -> Any:
            return tree.unflatten(state.tree_def, [get_params(s) for s in _unpacked(state)])

        return Optimizer(tree_init, tree_update, tree_params)

    return make


class JoinPoint:
    """A leaf that stands for an array's state in the tree of `unpack_optimizer_state`.

    Attributes:
      subtree: the state.
    """

    def __init__(self, subtree: Any):
        self.subtree = subtree

    def __iter__(self) -> Iterator[Any]:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """A state as a tree like the parameters, with a `JoinPoint` for each array: to be stored."""
    points = [JoinPoint(state) for state in _unpacked(opt_state)]
    return tree.unflatten(opt_state.tree_def, points)


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The inverse of `unpack_optimizer_state`.

    Raises:
      ValueError: the leaves are no `JoinPoint`s.
    """
    points, treedef = tree.flatten(marked_pytree)
    if not all(isinstance(point, JoinPoint) for point in points):
        raise ValueError(errors.not_joined())
    return _packed([point.subtree for point in points], treedef)


# ---------------------------------------------------------------- optimizers


def _first(state: Any) -> Any:
    return state[0]


def _inverse_root(x: Any) -> Any:
    return where(x > 0, 1 / sqrt(where(x > 0, x, 1)), 0)


def _bias(decay: Any, step: Any, like: Any) -> Any:
    """How much of the weights of a moving average there is after some steps."""
    return 1 - asarray(decay, like.dtype) ** (step + 1)


@optimizer
def sgd(step_size: Any) -> Any:
    """Stochastic gradient descent: the gradient times the step size is subtracted.

    Args:
      step_size: a positive number, or a function from the step to one.
    """
    size = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - size(i) * g, lambda x: x


@optimizer
def momentum(step_size: Any, mass: float) -> Any:
    """Gradient descent with momentum: along v, which becomes `mass * v + gradient`.

    Args:
      step_size: a positive number, or a function from the step to one.
      mass: how much of the velocity remains, from 0 to 1.
    """
    size = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, v = state
        v = mass * v + g
        return x - size(i) * v, v

    return lambda x: (x, zeros_like(x)), update, _first


@optimizer
def nesterov(step_size: Any, mass: float) -> Any:
    """Gradient descent with Nesterov's momentum, which looks one step of the velocity ahead.

    Args:
      step_size: a positive number, or a function from the step to one.
      mass: how much of the velocity remains, from 0 to 1.
    """
    size = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, v = state
        v = mass * v + g
        return x - size(i) * (mass * v + g), v

    return lambda x: (x, zeros_like(x)), update, _first


@optimizer
def adagrad(step_size: Any, momentum: float = 0.9) -> Any:
    """Adagrad: steps are divided by the root of the sum of all squares of gradients.

    (Duchi, Hazan, Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", Journal of Machine Learning Research 12, 2011.)

    Args:
      step_size: a positive number, or a function from the step to one.
      momentum: the decay of the moving average of steps.
    """
    size = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares + g * g
        m = (1 - momentum) * (g * _inverse_root(squares)) + momentum * m
        return x - size(i) * m, squares, m

    return lambda x: (x, zeros_like(x), zeros_like(x)), update, _first


@optimizer
def rmsprop(step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """RMSProp: steps are divided by the root of a moving average of squares of gradients.

    (Tieleman, Hinton, 2012.)

    Args:
      step_size: a positive number, or a function from the step to one.
      gamma: the decay of the average.
      eps: is added to the average.
    """
    size = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, average = state
        average = gamma * average + (1 - gamma) * (g * g)
        return x - size(i) * g / sqrt(average + eps), average

    return lambda x: (x, zeros_like(x)), update, _first


@optimizer
def rmsprop_momentum(
    step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> Any:
    """`rmsprop`, whose steps are summed up with a decay.

    Args:
      step_size, gamma, eps: as of `rmsprop`.
      momentum: the decay.
    """
    size = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, average, m = state
        average = gamma * average + (1 - gamma) * (g * g)
        m = momentum * m + size(i) * g / sqrt(average + eps)
        return x - m, average, m

    return lambda x: (x, zeros_like(x), zeros_like(x)), update, _first


@optimizer
def adam(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Adam: moving averages of gradients, over the root of those of their squares.

    (Kingma, Ba, "Adam: a method for stochastic optimization", 2015.)

    Args:
      step_size: a positive number, or a function from the step to one.
      b1, b2: the decays of the averages of gradients and of squares.
      eps: is added to the root.
    """
    size = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, m, v = state
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * (g * g)
        step = (m / _bias(b1, i, m)) / (sqrt(v / _bias(b2, i, m)) + eps)
        return x - size(i) * step, m, v

    return lambda x: (x, zeros_like(x), zeros_like(x)), update, _first


@optimizer
def adamax(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Adam with a decaying maximum of absolute gradients in place of the root of squares.

    Args:
      step_size, b1, b2, eps: as of `adam`.
    """
    size = make_schedule(step_size)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, m, u = state
        m = b1 * m + (1 - b1) * g
        u = maximum(b2 * u, abs(g))
        return x - size(i) / _bias(b1, i, m) * m / (u + eps), m, u

    return lambda x: (x, zeros_like(x), zeros_like(x)), update, _first


@optimizer
def sm3(step_size: Any, momentum: float = 0.9) -> Any:
    """SM3: as `adagrad`, but sums of squares are bounded by one number for each row, column, ...

    (Anil, Gupta, Koren, Singer, "Memory-efficient adaptive optimization", 2019.)

    Args:
      step_size: a positive number, or a function from the step to one.
      momentum: the decay of the moving average of steps.
    """
    size = make_schedule(step_size)

    def others(x: Any, axis: int) -> tuple[int, ...]:
        return tuple([i for i in range(x.ndim) if i != axis])

    def init(x: Any) -> Any:
        line = atleast_1d(x)
        return line, zeros_like(line), [zeros((n,), line.dtype) for n in line.shape], zeros_like(x)

    def update(i: Step, g: Any, state: Any) -> Any:
        x, m, bounds, like = state
        g = g.reshape(x.shape)
        wide = [expand_dims(v, others(x, axis)) for axis, v in enumerate(bounds)]
        squares = reduce(minimum, wide) + g * g
        m = (1 - momentum) * (g * _inverse_root(squares)) + momentum * m
        bounds = [max_of(squares, axis=others(x, axis)) for axis in range(x.ndim)]
        return x - size(i) * m, m, bounds, like

    return init, update, lambda state: state[0].reshape(state[3].shape)
