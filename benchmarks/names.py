"""Single names: what a call costs while a function is traced, and what the first eager call costs.

`python -m benchmarks.names [--first] [--only WORD]` calls the 150 array functions that libraries
built on JAX use most. Times are of the CPU, so that others on the machine do not count.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .timing import Row

# The calls, by what they are made of: `x` and `y` are float32[4,8], `v` and `w` float32[8], `p` is
# positive float32[4,8], `q` of them between 0 and 1, `a` is a positive definite float32[6,6], `b`
# and `c` are bool[4,8], `i` and `j` int32[4,8], `n` int32[5] of indices below 4, `k` a random key.
CALLS = """
jnp.where(b, x, y); jnp.asarray(x); jnp.zeros((4, 8)); jnp.array(x); random.split(k);
jnp.log(p); jnp.sum(x); jnp.sum(x, axis=1); jnp.sqrt(p); jnp.broadcast_to(v, (4, 8));
jnp.exp(x); jnp.maximum(x, 0.0); jnp.arange(8); jnp.concatenate([x, y]); jnp.abs(x);
jnp.square(x); jnp.reshape(x, (8, 4)); jnp.zeros_like(x); jnp.dot(x, v); jnp.ones((4, 8));
jnp.clip(x, -1.0, 1.0); jnp.mean(x, axis=0); jnp.mean(x); jnp.expand_dims(v, 0);
lax.stop_gradient(x); jnp.stack([x, y]); jnp.power(p, 2.5); jnp.matmul(x, a8); jnp.ones_like(x);
random.normal(k, (4, 8)); jnp.minimum(x, y); random.uniform(k, (4, 8)); jnp.eye(6);
lax.select(b, x, y); jnp.full((4, 8), 1.5); jnp.diag(v); nn.relu(x); nn.softplus(x);
jnp.cross(t, u); jnp.isfinite(x); jnp.logical_and(b, c); jnp.max(x, axis=1); jnp.isnan(x);
jnp.einsum('ij,kj->ik', x, y); scipy.special.gammaln(p); jnp.sign(x); jnp.linalg.norm(x);
jnp.log1p(p); jnp.squeeze(x[:, :1]); jnp.repeat(v, 3); scipy.linalg.solve_triangular(a, r);
jnp.all(b); jnp.any(b, axis=0); random.bernoulli(k, 0.3, (4, 8)); jnp.moveaxis(x, 0, 1);
jnp.swapaxes(x, 0, 1); scipy.special.logsumexp(x, axis=1); jnp.cumsum(x, axis=1); jnp.cos(x);
jnp.linalg.cholesky(a); jnp.diagonal(a); nn.one_hot(n, 4); jnp.sin(x); jnp.multiply(x, y);
lax.rsqrt(p); jnp.take(x, n, axis=0); jnp.pad(x, 1); jnp.tile(x, (2, 2)); jnp.split(x, 2);
jnp.argmax(x, axis=1); jnp.tanh(x); jnp.logical_or(b, c); nn.log_softmax(x);
random.fold_in(k, 3); jnp.invert(b); random.randint(k, (4,), 0, 9);
lax.convert_element_type(x, 'int32'); jnp.transpose(x); jnp.argsort(v); nn.sigmoid(x);
jnp.floor(x); lax.dot_general(x, y, (([1], [1]), ([], []))); jnp.identity(4);
jnp.logical_not(b); nn.softmax(x); lax.dynamic_update_slice(x, x[:2, :2], (1, 1));
jnp.reciprocal(p); jnp.expm1(x); random.choice(k, v); jnp.greater(x, y); jnp.astype(x, 'int32');
jnp.diff(v); random.categorical(k, x); scipy.special.digamma(p); jnp.logaddexp(x, y);
jnp.min(x); lax.lgamma(p); scipy.special.betaln(p, p); random.permutation(k, v); jnp.isinf(x);
jnp.tensordot(x, y, ((1,), (1,))); jnp.less(x, y); jnp.full_like(x, 2.0); jnp.flip(x, 0);
jnp.kron(t, u); jnp.count_nonzero(b); scipy.special.xlogy(p, q); jnp.average(x);
jnp.std(x, axis=0); jnp.hstack([x, y]); jnp.conj(x); jnp.equal(i, j); jnp.median(v);
jnp.take_along_axis(x, j % 8, axis=1); jnp.linalg.eigh(a); jnp.var(x); jnp.add(x, y);
jnp.atleast_1d(x); jnp.linalg.solve(a, r); lax.square(x); jnp.linalg.inv(a); jnp.tril(a);
jnp.vdot(v, w); jnp.sort(v); jnp.round(x); jnp.mod(i, 3); jnp.linalg.qr(a);
scipy.special.expit(x); jnp.not_equal(i, j); random.exponential(k, (4,)); nn.log_sigmoid(x);
jnp.nan_to_num(x); jnp.ceil(x); jnp.outer(v, w); jnp.roll(v, 2); jnp.prod(x); jnp.negative(x);
jnp.searchsorted(v, w); jnp.append(v, w); jnp.linspace(0.0, 1.0, 9); jnp.divide(x, p);
nn.logsumexp(v); lax.top_k(v, 3); jnp.atleast_2d(v); jnp.argmin(v); jnp.arctanh(q);
lax.add(x, y); jnp.inner(v, w); jnp.vstack([v, w]); jnp.isclose(x, y); jnp.polyval(t, x);
nn.gelu(x); jnp.real(x); jnp.column_stack([v, w]); jnp.subtract(x, y); jnp.triu(a);
jnp.arctan2(x, y); jnp.meshgrid(v, w); jnp.trace(a); x + y; x * 2.0; x[0]; x[:, 1:3]; x[n];
x.at[0].set(1.0); x.T; x @ x.T; x ** 2; x > 0; x.sum(); x.reshape(-1)
"""


def calls() -> list[str]:
    """The calls, each as it is written."""
    return [call.strip() for call in CALLS.replace("\n", " ").split(";")]


def arguments(m: Any) -> dict[str, Any]:
    """What the names in the calls stand for."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 4, 8)).astype(np.float32)
    square = rng.standard_normal((6, 6)).astype(np.float32)
    hosts = dict(
        x=x, y=y, v=x[0], w=y[0], p=np.exp(x), q=(0.5 + 0.4 * np.tanh(y)).astype(np.float32),
        a=square @ square.T + 6 * np.eye(6, dtype=np.float32), a8=np.eye(8, dtype=np.float32),
        r=square[0], t=x[0, :3], u=y[0, :3], b=x > 0, c=y > 0,
        n=np.array([0, 3, 1, 1, 2], np.int32), i=np.abs(x * 9).astype(np.int32),
        j=np.abs(y * 9).astype(np.int32),
    )  # fmt: skip
    return {**{name: m.numpy.asarray(host) for name, host in hosts.items()}, "k": m.random.key(0)}


def function_of(m: Any, call: str) -> Callable[[dict[str, Any]], Any]:
    """The call as a function of a dict of arguments."""
    spaces = dict(jnp=m.numpy, lax=m.lax, nn=m.nn, random=m.random, scipy=m.scipy)
    code = compile(call, call, "eval")
    return lambda values: eval(code, spaces, values)


def cpu(function: Callable[[], object], count: int, clock: Callable[[], float]) -> float:
    """The CPU time of a call, in the mean over `count` of them."""
    start = clock()
    for _ in range(count):
        function()
    return (clock() - start) / count


def traced(m: Any, call: str, count: int) -> Callable[[], float]:
    """A function that traces the call a few times in an open trace, and returns the time of one."""
    f, args, times = function_of(m, call), arguments(m), []

    def program(args: Any) -> int:
        f(args)
        times.append(cpu(lambda: f(args), count, time.thread_time))
        return 0

    def run() -> float:
        m.make_jaxpr(lambda args: program(args))(args)
        return times.pop()

    return run


def first(m: Any, call: str) -> Callable[[], float]:
    """A function that forgets all that was compiled, and returns the time of one eager call."""
    f, args = function_of(m, call), arguments(m)

    def run() -> float:
        m.clear_caches()
        return cpu(lambda: m.block_until_ready(f(args)), 1, time.process_time)

    return run


def rows(
    cv: Any, jax: Any, measure: Callable[..., Callable[[], float]], rounds: int, only: str = ""
) -> Iterator[Row]:
    """The rows of the table, one for each call."""
    for call in calls():
        if only not in call:
            continue
        runs = [measure(m, call) for m in (cv, jax)]
        best = [float("inf")] * 2
        gc.collect()
        gc.disable()
        for _ in range(rounds):
            for side, run in enumerate(runs):
                best[side] = min(best[side], run())
        gc.enable()
        yield Row(call, *best, goal=None)


def show(table: Sequence[Row], goal: float) -> None:
    """Print quantiles of the ratios."""
    ratios = np.array([row.ratio for row in table])
    quantiles = np.quantile(ratios, [0.1, 0.5, 0.9])
    print("quantiles 0.1, 0.5, 0.9: " + ", ".join(f"{q:.2f}" for q in quantiles), end="; ")
    mean = np.exp(np.log(ratios).mean())
    print(f"geometric mean {mean:.2f}; {(ratios <= goal).sum()} of {len(ratios)} <= {goal:g}")


def main() -> None:
    import jax

    import covector

    parser = argparse.ArgumentParser(prog="benchmarks.names")
    parser.add_argument("--only", default="", help="calls that contain this")
    parser.add_argument("--first", action="store_true", help="the first eager call")
    parser.add_argument("--rounds", type=int, default=0)
    options = parser.parse_args()
    covector.config.update("jax_enable_compilation_cache", False)  # as JAX's is
    measure: Callable[..., Callable[[], float]] = first
    goal, rounds = 1.0, options.rounds or 3
    if not options.first:
        measure, goal, rounds = lambda m, call: traced(m, call, 20), 0.2, options.rounds or 10
    table = []
    for row in rows(covector, jax, measure, rounds, options.only):
        table.append(row)
        mark = "  more than aimed at" if row.ratio > goal else ""
        ours, theirs = (f"{t * 1e6:10.1f} us" for t in (row.ours, row.theirs))
        print(f"{row.name:58}{ours}{theirs}{row.ratio:7.2f}{mark}", flush=True)
    show(table, goal)


if __name__ == "__main__":
    main()
