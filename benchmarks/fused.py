"""`python -m benchmarks.fused`: whole programs beside JAX, in compile time, run time and results.

    python -m benchmarks.fused [--only WORD] [--all] [--seconds S] [--out DIRECTORY] [--list]

Without JAX the columns of Covector alone are printed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jaxlib
import numpy as np

from . import dynamics, networks
from .pairs import Pair, geometric_mean, libraries, measure, warm_up

PROGRAMS = dynamics.PROGRAMS | networks.PROGRAMS
SLOW = dynamics.SLOW | networks.SLOW


def pretty(seconds: float) -> str:
    """A time with three digits and its unit."""
    unit, scale = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * scale:.3g} {unit}"


def head(both: bool) -> str:
    """The names of the columns."""
    if not both:
        return f"{'program':38}{'compile':>10}{'run':>10}"
    columns = "".join(f"{name:>10}{'JAX':>10}{'ratio':>7}" for name in ("compile", "run"))
    return f"{'program':38}{columns}{'differ':>9}"


def line(pair: Pair) -> str:
    """The columns after a program's name."""
    if len(pair.run) == 1:
        return f"{pretty(pair.compile[0]):>10}{pretty(pair.run[0]):>10}"
    times = "".join(
        "".join(f"{pretty(t):>10}" for t in times) + f"{ratio:7.2f}"
        for times, ratio in ((pair.compile, pair.compile_ratio), (pair.run, pair.run_ratio))
    )
    return f"{times}{pair.difference:9.0e}"


def table(names: list[str], both: list[Any], seconds: float) -> Iterator[Pair]:
    """Measure programs, and print a line for each as it is done."""
    print(head(len(both) > 1))
    for name in names:
        print(f"{name:38}", end="", flush=True)
        pair = measure(name, PROGRAMS[name], both, seconds)
        print(line(pair), flush=True)
        yield pair


def summary(pairs: list[Pair]) -> str:
    """Means and counts over the whole table."""
    runs = [pair.run_ratio for pair in pairs]
    compiles = [pair.compile_ratio for pair in pairs]
    return (
        f"{len(pairs)} programs. Geometric means relative to JAX: compile "
        f"{geometric_mean(compiles):.2f}, run {geometric_mean(runs):.2f}. Slower to run by 5 %: "
        f"{sum(r > 1.05 for r in runs)}; slower to compile by 5 %: "
        f"{sum(r > 1.05 for r in compiles)}. "
        f"Largest relative difference {max(pair.difference for pair in pairs):.0e}."
    )


def picture(path: Path, pairs: list[Pair], version: str) -> None:
    """Ratios of both times on logarithmic axes; to the left of the line is faster than JAX."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ordered = sorted(pairs, key=lambda pair: -pair.run_ratio)
    figure, axes = plt.subplots(
        1, 2, figsize=(10, 0.21 * len(pairs) + 1.4), sharey=True, constrained_layout=True
    )
    for ax, title, ratios in (
        (axes[0], "run time", [pair.run_ratio for pair in ordered]),
        (axes[1], "compile time (CPU)", [pair.compile_ratio for pair in ordered]),
    ):
        places = np.arange(len(ordered))
        ax.hlines(places, 1, ratios, color="0.8")
        ax.scatter(ratios, places, c=["C0" if r <= 1.05 else "C3" for r in ratios], s=16, zorder=3)
        ax.axvline(1, color="0.3", linewidth=1)
        ax.set(xscale="log", title=f"{title}, geometric mean {geometric_mean(ratios):.2f}")
        ax.set_xlabel(f"Covector / JAX {version}; left of the line is faster")
    axes[0].set_yticks(places, [pair.name for pair in ordered], fontsize=7)
    axes[0].set_ylim(-1, len(ordered))
    figure.savefig(path, dpi=130)
    plt.close(figure)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.fused", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--all", action="store_true", help="also those that take JAX minutes")
    parser.add_argument("--seconds", type=float, default=2.0, help="of runs for each program")
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--list", action="store_true", help="print the names of the programs")
    return parser


def main() -> None:
    options = arguments().parse_args()
    word = options.only.lower()
    names = [n for n in PROGRAMS if word in n.lower() and (options.all or n not in SLOW)]
    if not names:
        sys.exit(f"no program's name contains {options.only!r}")
    if options.list:
        print("\n".join(names))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    both = libraries()
    versions = {m.__name__: getattr(m, "__version__", "") for m in both}
    versions |= {"jaxlib": jaxlib.__version__, "python": platform.python_version()}
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    warm_up(both)
    written, pairs = options.out / "fused.json", []
    for pair in table(names, both, options.seconds):
        pairs.append(pair)  # written each time, so that a run that is broken off is not lost
        result = {"versions": versions, "programs": [pair._asdict() for pair in pairs]}
        written.write_text(json.dumps(result, indent=1))
    if len(both) > 1:
        print("\n" + summary(pairs))
        if find_spec("matplotlib"):
            picture(options.out / "fused.png", pairs, versions["jax"])
    print(f"written: {written}")


if __name__ == "__main__":
    main()
