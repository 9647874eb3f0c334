"""`python -m benchmarks.fuzzed`: random programs beside JAX, and how many of them are slower.

    python -m benchmarks.fuzzed [--count N] [--seed FIRST] [--seconds S] [--again N] [--out FOLDER]

A program is made of random operations on values of one shape, each of which may be used again any
number of times.  The same seed gives the same program; the seeds of the slow ones are printed.

Programs of some thousand numbers run in 20 or in 40 microseconds, as the thread that XLA gives them
to is awake or not, in both libraries.  So those that seem slow are measured again, and of all their
ratios the median counts.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .fused import head, line, summary
from .pairs import Pair, libraries, measure, warm_up

SHAPES = [(), (8,), (16, 16), (256,), (1024,), (128, 256), (1024, 256), (1 << 18,)]
LENGTHS = [10, 30, 60, 120]

# A program that takes more than that times as long as in JAX counts as slower.
SLOW = 1.05

# Functions of one, two and three values which keep them within bounds, so that the results of both
# libraries can be compared, however long the program is.
UNARY: list[Callable[[Any, Any], Any]] = [
    lambda jnp, x: jnp.sin(x),
    lambda jnp, x: jnp.cos(x),
    lambda jnp, x: jnp.tanh(x),
    lambda jnp, x: jnp.exp(-jnp.abs(x)),
    lambda jnp, x: jnp.log(1 + x * x),
    lambda jnp, x: jnp.sqrt(1 + x * x) - 1,
    lambda jnp, x: 1 / (1 + x * x),
    lambda jnp, x: 0.5 * x * (1 - x),
    lambda jnp, x: jnp.minimum(jnp.abs(x), 2.0),
]
BINARY: list[Callable[[Any, Any, Any], Any]] = [
    lambda jnp, x, y: 0.6 * x + 0.4 * y,
    lambda jnp, x, y: 0.7 * x - 0.3 * y,
    lambda jnp, x, y: x * y / (1 + jnp.abs(x * y)),
    lambda jnp, x, y: jnp.maximum(x, y),
    lambda jnp, x, y: jnp.where(x > y, 0.5 * x, y),
    lambda jnp, x, y: x / (2 + y * y),
]
# Operations that move or combine the elements of an array.
ACROSS: list[Callable[[Any, Any], Any]] = [
    lambda jnp, x: jnp.roll(x, 1, -1),
    lambda jnp, x: x[..., ::-1],
    lambda jnp, x: x - x.mean(-1, keepdims=True),
    lambda jnp, x: x + x[..., :1],
    lambda jnp, x: x / (1 + jnp.abs(x).max(-1, keepdims=True)),
    lambda jnp, x: jnp.cumsum(x, -1) / x.shape[-1],
    lambda jnp, x: jnp.concatenate([x[..., 1:], x[..., :1]], -1),
]


class Plan(NamedTuple):
    """What kind of program a seed stands for.

    Attributes:
      shape: of all values.
      length: how many operations there are.
      reach: how far back an operation looks for its operands: 1 makes chains, more makes programs
        in which values are used several times.
      derive: whether it is the value and gradient of the mean.
    """

    shape: tuple[int, ...]
    length: int
    reach: int
    derive: bool


def plan(seed: int) -> Plan:
    choose = random.Random(seed)
    kind = choose.choice(SHAPES), choose.choice(LENGTHS), choose.choice([1, 2, 4, 12])
    return Plan(*kind, derive=choose.random() < 0.5)


def operation(m: Any, choose: random.Random, near: Sequence[Any]) -> Any:
    """A random operation on one or two of some values."""
    kind = choose.random()
    x, y = choose.choice(near), choose.choice(near)
    if kind < 0.35:
        return choose.choice(UNARY)(m.numpy, x)
    if kind < 0.85 or not x.shape:
        return choose.choice(BINARY)(m.numpy, x, y)
    return choose.choice(ACROSS)(m.numpy, x)


def random_program(m: Any, seed: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The program of a seed: a function of two arrays, and the arrays."""
    shape, length, reach, derive = plan(seed)

    def f(x: Any, y: Any) -> Any:
        choose, values = random.Random(-1 - seed), [x, y]
        for _ in range(length):
            near = values[-reach:] if choose.random() < 0.9 else values
            values.append(operation(m, choose, near))
        return sum(values[-reach:])

    numbers = np.random.default_rng(seed)
    arrays = tuple(numbers.uniform(-1, 1, shape).astype(np.float32) for _ in range(2))
    if derive:
        return m.value_and_grad(lambda x, y: f(x, y).mean(), argnums=(0, 1)), arrays
    return f, arrays


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.fuzzed", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    parser.add_argument("--seconds", type=float, default=1.0, help="of runs for each program")
    parser.add_argument("--again", type=int, default=4, help="times that slow ones are run again")
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    both = libraries()
    if len(both) < 2:
        sys.exit("random programs are compared with JAX, which is not installed here")
    warm_up(both)
    print(head(True))
    pairs: list[Pair] = []
    for seed in range(options.seed, options.seed + options.count):
        shape, length, reach, derive = plan(seed)
        sizes = "x".join(map(str, shape)) or "scalar"
        name = f"{seed}: {length} on {sizes}, {reach}{', grad' * derive}"
        print(f"{name:38}", end="", flush=True)
        program = partial(random_program, seed=seed)
        pair = measure(name, program, both, options.seconds)
        if pair.run_ratio > SLOW:
            again = [measure(name, program, both, options.seconds) for _ in range(options.again)]
            pair = median([pair, *again])
        pairs.append(pair)
        print(line(pair), flush=True)
    report(pairs)
    text = json.dumps([pair._asdict() for pair in pairs], indent=1)
    (options.out / "fuzzed.json").write_text(text)


def median(pairs: list[Pair]) -> Pair:
    """Of several measurements of a program the one with the median ratio of the runs' times."""
    return sorted(pairs, key=lambda pair: pair.run_ratio)[len(pairs) // 2]


def report(pairs: list[Pair]) -> None:
    """Print the means, and which programs run slower than in JAX."""
    print("\n" + summary(pairs))
    for limit in (SLOW, 1.5):
        slow = [pair.name for pair in pairs if pair.run_ratio > limit]
        print(f"slower to run than {limit} times JAX: {len(slow)}")
        for name in slow:
            print(f"    seed {name}")


if __name__ == "__main__":
    main()
