"""Programs of numerical computing: recurrences, simulations, stencils, scans, optimization.

Each takes a library `m` (Covector or JAX), and gives a function with its arguments.  Their Python
loops are unrolled by tracing, so that one compiled program holds hundreds of small operations, of
which the compiler has to decide what to compute once and what again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

Program = Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    values = np.random.default_rng(sum(shape)).standard_normal(shape)
    return (scale * values).astype(np.float32)


def uniform(*shape: int, low: float = 0.1, high: float = 0.9, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


# ---------------------------------------------------------------- recurrences


def sine_recurrence(m: Any, steps: int, derive: bool) -> Any:
    def total(x: Any) -> Any:
        for _ in range(steps):
            x = m.numpy.sin(x) * 1.01 + x[0]
        return x.sum()

    return m.grad(total) if derive else total, (np.linspace(-0.01, 0.01, 8, dtype=np.float32),)


def logistic_map(m: Any, size: int, derive: bool) -> Any:
    def f(x: Any) -> Any:
        for _ in range(50):
            x = 3.7 * x * (1 - x)
        return x

    return m.grad(lambda x: f(x).sum()) if derive else f, (uniform(size),)


def henon_map(m: Any, derive: bool) -> Any:
    def orbit(x: Any, y: Any) -> Any:
        xs = []
        for _ in range(60):
            x, y = 1 - 1.4 * x * x + y, 0.3 * x
            xs.append(x)
        return m.numpy.stack(xs)

    f = m.grad(lambda x, y: orbit(x, y).sum(), argnums=(0, 1)) if derive else orbit
    return f, (uniform(256) / 10, uniform(256, seed=1) / 10)


def mandelbrot(m: Any) -> Any:
    jnp = m.numpy

    def escape(c: Any) -> Any:
        re = im = jnp.zeros_like(c)
        count = jnp.zeros_like(c)
        for _ in range(20):
            re, im = re * re - im * im + c, 2 * re * im + 0.3
            count = count + (re * re + im * im < 4)
        return count

    return escape, (uniform(1 << 20),)


def hash_rounds(m: Any) -> Any:
    jnp = m.numpy

    def mix(x: Any) -> Any:
        a = x.astype(jnp.uint32)
        b = a + jnp.uint32(7)
        for _ in range(40):
            a = a + b
            b = ((b << 13) | (b >> 19)) ^ a
        return a ^ b

    return mix, (np.arange(1 << 20, dtype=np.int32),)


def log_sum_exp_chain(m: Any) -> Any:
    def f(x: Any, a: Any) -> Any:
        for _ in range(30):
            x = m.nn.logsumexp(a + x[None, :], axis=1) - x
        return x.sum()

    return m.grad(f), (normal(32), normal(32, 32))


def cumulative_sum_chain(m: Any) -> Any:
    jnp = m.numpy

    def f(x: Any) -> Any:
        for _ in range(6):
            x = jnp.cumsum(x * jnp.cos(x)) / x.size + x
        return x

    return f, (normal(1 << 16),)


def polynomial_of_a_matrix(m: Any) -> Any:
    def f(x: Any) -> Any:
        y = x
        for k in range(24):
            y = (y @ x) * 0.1 + 1.0 / (k + 1)
        return y.sum()

    return m.value_and_grad(f), (normal(64, 64, scale=0.1),)


# ---------------------------------------------------------------- simulations


def lorenz(m: Any, state: Any) -> Any:
    x, y, z = state[0], state[1], state[2]
    return m.numpy.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z])


def bodies(m: Any, state: Any) -> Any:
    """The time derivative of positions and velocities of bodies that attract each other."""
    jnp = m.numpy
    position, velocity = state[0], state[1]
    apart = position[:, None] - position[None]
    squared = (apart**2).sum(-1) + 0.1
    force = -(apart / (squared * jnp.sqrt(squared))[..., None]).sum(1)
    return jnp.stack([velocity, force])


def euler_step(field: Callable[[Any], Any], state: Any, h: float) -> Any:
    return state + h * field(state)


def runge_kutta_step(field: Callable[[Any], Any], state: Any, h: float) -> Any:
    k1 = field(state)
    k2 = field(state + h / 2 * k1)
    k3 = field(state + h / 2 * k2)
    k4 = field(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def trajectory(
    m: Any, field: Callable[..., Any], step: Callable[..., Any], steps: int, derive: bool
) -> Any:
    """The sum of the state after some steps, or its gradient."""

    def final(state: Any) -> Any:
        for _ in range(steps):
            state = step(partial(field, m), state, 0.01)
        return state.sum()

    start = np.array([1.0, 1.2, 0.9], np.float32) if field is lorenz else normal(2, 6, 3)
    return m.grad(final) if derive else final, (start,)


def molecular_dynamics(m: Any) -> Any:
    """Leapfrog steps of 128 particles under the Lennard-Jones potential."""
    jnp = m.numpy

    def potential(q: Any) -> Any:
        apart = q[:, None] - q[None]
        inverse = 1 / ((apart**2).sum(-1) + jnp.eye(len(q))) ** 3
        return (4 * (inverse * inverse - inverse) * (1 - jnp.eye(len(q)))).sum()

    def run(q: Any, v: Any) -> Any:
        force = m.grad(potential)
        for _ in range(5):
            v = v - 0.0005 * force(q)
            q = q + 0.001 * v
            v = v - 0.0005 * force(q)
        return q, v

    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 2, [0.0, 1.5]), -1).reshape(-1, 3)
    return run, (grid.astype(np.float32) * 1.2, normal(128, 3))


def heat(m: Any, steps: int, derive: bool) -> Any:
    """Explicit steps of the heat equation with periodic boundaries."""
    roll = m.numpy.roll

    def f(u: Any) -> Any:
        for _ in range(steps):
            around = roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1)
            u = u + 0.1 * (around - 4 * u)
        return u

    return m.grad(lambda u: (f(u) ** 2).sum()) if derive else f, (normal(256, 256),)


def gray_scott(m: Any, derive: bool) -> Any:
    """Explicit steps of a system of reaction and diffusion, with zeros around it."""
    jnp = m.numpy

    def laplacian(u: Any) -> Any:
        down, up = jnp.pad(u[1:], ((0, 1), (0, 0))), jnp.pad(u[:-1], ((1, 0), (0, 0)))
        left, right = jnp.pad(u[:, 1:], ((0, 0), (0, 1))), jnp.pad(u[:, :-1], ((0, 0), (1, 0)))
        return down + up + left + right - 4 * u

    def f(u: Any, v: Any) -> Any:
        for _ in range(5):
            reaction = u * v * v
            u, v = (
                u + 0.16 * laplacian(u) - reaction + 0.06 * (1 - u),
                v + 0.08 * laplacian(v) + reaction - 0.1 * v,
            )
        return u, v

    def squares(u: Any, v: Any) -> Any:
        return sum((x**2).sum() for x in f(u, v))

    arguments = (uniform(512, 512), uniform(512, 512, seed=1))
    return m.grad(squares, argnums=(0, 1)) if derive else f, arguments


def black_scholes(m: Any) -> Any:
    """Prices of options, and their derivatives by all five of their parameters."""
    jnp = m.numpy

    def price(spot: Any, strike: Any, time: Any, rate: Any, volatility: Any) -> Any:
        spread = volatility * jnp.sqrt(time)
        d1 = (jnp.log(spot / strike) + (rate + volatility**2 / 2) * time) / spread
        below = lambda z: 0.5 * (1 + m.lax.erf(z / np.float32(np.sqrt(2))))  # noqa: E731
        return spot * below(d1) - strike * jnp.exp(-rate * time) * below(d1 - spread)

    def greeks(*args: Any) -> Any:
        by_all = m.grad(lambda *args: price(*args).sum(), argnums=(0, 1, 2, 3, 4))
        return price(*args), by_all(*args)

    return greeks, tuple(uniform(1 << 18, low=0.5, high=1.5, seed=i) for i in range(5))


# ---------------------------------------------------------------- solvers and optimization


def newton(m: Any, outer: str) -> Any:
    """Newton's method on three equations, whose Jacobian is taken in each step; its derivative."""
    jnp = m.numpy

    def residual(x: Any) -> Any:
        a = x[0] ** 2 + x[1] ** 2 + x[2] - 3.0
        b = x[0] * x[1] - x[2] ** 2 + 0.5
        return jnp.stack([a, b, jnp.sin(x[0]) + x[1] * x[2] - 1.0])

    def solve(rows: Any, right: Any) -> Any:
        a, b, c = rows[0], rows[1], rows[2]
        adjugate = [jnp.cross(b, c), jnp.cross(c, a), jnp.cross(a, b)]
        return sum(column * right[i] for i, column in enumerate(adjugate)) / (a @ adjugate[0])

    def root(x: Any) -> Any:
        for _ in range(8):
            x = x - solve(m.jacfwd(residual)(x), residual(x))
        return x

    f = m.jacfwd(root) if outer == "jacobian" else m.grad(lambda x: root(x).sum())
    return f, (np.array([1.0, 1.2, 0.9], np.float32),)


def rosenbrock_hypergradient(m: Any) -> Any:
    """The derivative of what fifteen steps of gradient descent reach by where they begin."""

    def loss(x: Any) -> Any:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def descended(x: Any) -> Any:
        for _ in range(15):
            x = x - 1e-4 * m.grad(loss)(x)
        return loss(x)

    return m.grad(descended), (uniform(256),)


def sinkhorn(m: Any) -> Any:
    """Entropic optimal transport between 64 and 64 points; value and gradient by the costs."""
    jnp = m.numpy

    def transported(cost: Any) -> Any:
        f, g = jnp.zeros(64), jnp.zeros(64)
        for _ in range(50):
            f = -0.1 * m.nn.logsumexp((g[None] - cost) / 0.1, 1)
            g = -0.1 * m.nn.logsumexp((f[:, None] - cost) / 0.1, 0)
        return (jnp.exp((f[:, None] + g[None] - cost) / 0.1) * cost).sum()

    return m.value_and_grad(transported), (uniform(64, 64),)


# ---------------------------------------------------------------- scans


def associative_scan(m: Any, dtype: str, size: int, derive: bool) -> Any:
    """The linear recurrence y[i] = a[i] y[i-1] + b[i], by a scan in parallel."""

    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    def f(a: Any, b: Any) -> Any:
        return m.lax.associative_scan(combine, (a, b))[1]

    a, b = uniform(size), normal(size)
    if dtype == "complex64":
        a, b = (0.99 * np.exp(1j * a)).astype(np.complex64), b.astype(np.complex64)
    return m.grad(lambda a, b: m.numpy.abs(f(a, b)).sum()) if derive else f, (a, b)


def scan_of_reads_and_writes(m: Any) -> Any:
    """A thousand steps, each of which reads an element of a large array and writes another."""

    def step(carry: Any, i: Any) -> Any:
        value = carry[i]
        return carry.at[(i * 7919) % carry.size].add(0.5 * value), value

    def f(x: Any, places: Any) -> Any:
        return m.lax.scan(step, x, places)

    places = np.random.default_rng(0).integers(0, 1_000_000, 1000).astype(np.int32)
    return f, (normal(1_000_000), places)


def scan_of_a_histogram(m: Any) -> Any:
    """Samples counted one by one, in bins whose counts decide their weights."""

    def step(counts: Any, bin: Any) -> Any:
        return counts.at[bin].set(counts[bin] * 0.99 + 1), counts[bin] > 3

    def f(counts: Any, bins: Any) -> Any:
        return m.lax.scan(step, counts, bins)

    bins = np.random.default_rng(0).integers(0, 100_000, 1000).astype(np.int32)
    return f, (np.zeros(100_000, np.float32), bins)


# ---------------------------------------------------------------- the table

PROGRAMS: dict[str, Program] = {
    "sine recurrence, 20 steps": partial(sine_recurrence, steps=20, derive=False),
    "sine recurrence, 200 steps": partial(sine_recurrence, steps=200, derive=False),
    "sine recurrence, 20 steps, grad": partial(sine_recurrence, steps=20, derive=True),
    "sine recurrence, 60 steps, grad": partial(sine_recurrence, steps=60, derive=True),
    "sine recurrence, 120 steps, grad": partial(sine_recurrence, steps=120, derive=True),
    "logistic map, 1M": partial(logistic_map, size=1 << 20, derive=False),
    "logistic map, 1M, grad": partial(logistic_map, size=1 << 20, derive=True),
    "logistic map, 256, grad": partial(logistic_map, size=256, derive=True),
    "Henon map": partial(henon_map, derive=False),
    "Henon map, grad": partial(henon_map, derive=True),
    "Mandelbrot set, 1M": mandelbrot,
    "hash of 40 rounds, 1M": hash_rounds,
    "log-sum-exp chain, grad": log_sum_exp_chain,
    "cumulative sum chain": cumulative_sum_chain,
    "matrix polynomial, grad": polynomial_of_a_matrix,
    **{
        f"Lorenz, {steps} Euler steps{', grad' * derive}": partial(
            trajectory, field=lorenz, step=euler_step, steps=steps, derive=derive
        )
        for steps in (20, 50, 100)
        for derive in (False, True)
    },
    "Lorenz, 1000 Euler steps": partial(
        trajectory, field=lorenz, step=euler_step, steps=1000, derive=False
    ),
    "Lorenz, 400 Euler steps, grad": partial(
        trajectory, field=lorenz, step=euler_step, steps=400, derive=True
    ),
    **{
        f"Lorenz, {steps} Runge-Kutta steps, grad": partial(
            trajectory, field=lorenz, step=runge_kutta_step, steps=steps, derive=True
        )
        for steps in (10, 50)
    },
    "6 bodies, 15 Euler steps, grad": partial(
        trajectory, field=bodies, step=euler_step, steps=15, derive=True
    ),
    "6 bodies, 4 Runge-Kutta steps, grad": partial(
        trajectory, field=bodies, step=runge_kutta_step, steps=4, derive=True
    ),
    "Lennard-Jones dynamics": molecular_dynamics,
    "heat stencil, 10 steps": partial(heat, steps=10, derive=False),
    "heat stencil, 6 steps, grad": partial(heat, steps=6, derive=True),
    "Gray-Scott stencil": partial(gray_scott, derive=False),
    "Gray-Scott stencil, grad": partial(gray_scott, derive=True),
    "Black-Scholes and greeks": black_scholes,
    "Newton's method, Jacobian": partial(newton, outer="jacobian"),
    "Newton's method, grad": partial(newton, outer="gradient"),
    "Rosenbrock hypergradient": rosenbrock_hypergradient,
    "Sinkhorn, value and grad": sinkhorn,
    "associative scan, f32": partial(associative_scan, dtype="float32", size=1 << 16, derive=False),
    "associative scan, c64": partial(associative_scan, dtype="complex64", size=4096, derive=False),
    "associative scan, c64, grad": partial(
        associative_scan, dtype="complex64", size=4096, derive=True
    ),
    "scan of reads and writes, 1M": scan_of_reads_and_writes,
    "scan of a histogram, 100k": scan_of_a_histogram,
}

# JAX compiles these for a minute or more, or (20 steps) runs them for seconds.
SLOW = {
    "sine recurrence, 120 steps, grad",
    "Lorenz, 20 Euler steps, grad",
    "Lorenz, 100 Euler steps, grad",
    "Lorenz, 1000 Euler steps",
    "Lorenz, 400 Euler steps, grad",
    "Lorenz, 50 Runge-Kutta steps, grad",
    "Gray-Scott stencil, grad",
}
