"""`python -m benchmarks [--only WORD] [--out DIRECTORY]`: the tables, as text, JSON and picture."""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterable
from pathlib import Path

import jax
import jaxlib

import covector

from . import compiling, host, kernels, loops, programs, rematerialization, scaling
from .timing import Row


def show(title: str, rows: Iterable[Row], only: str) -> list[Row]:
    """Print a table row by row as it is measured."""
    print(f"\n{title:38}{'Covector':>12}{'JAX':>12}{'ratio':>8}   goal")
    shown = []
    for row in rows:
        if only and only not in row.name:
            continue
        shown.append(row)
        goal = "" if row.goal is None else f"<= {row.goal:g}"
        mark = "" if row.goal is None or row.ratio <= row.goal else "  missed"
        print(
            f"{row.name:38}{pretty(row.ours):>12}{pretty(row.theirs):>12}{row.ratio:8.2f}   "
            f"{goal}{mark}",
            flush=True,
        )
    return shown


def pretty(seconds: float) -> str:
    """A time with three digits and its unit."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"
    raise AssertionError


def picture(path: Path, rows: list[Row]) -> None:
    """The ratios as bars; shorter is better, and the line is JAX."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.28 * len(rows) + 1.2), constrained_layout=True)
    names = [row.name for row in rows][::-1]
    ratios = [row.ratio for row in rows][::-1]
    axes.barh(names, ratios, color=["C0" if r <= 1.05 else "C3" for r in ratios])
    axes.axvline(1, color="0.3", linewidth=1)
    for i, ratio in enumerate(ratios):
        axes.text(ratio + 0.02, i, f"{ratio:.2f}", va="center", fontsize=8)
    axes.set(
        xlabel="time relative to JAX (less is better)", title=f"Covector / JAX {jax.__version__}"
    )
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"jaxlib {jaxlib.__version__}, Python {platform.python_version()}, JAX {jax.__version__}")
    hosts = show("host side", host.rows(covector, jax), options.only)
    compiled = show("compiled programs", programs.rows(covector, jax), options.only)
    looped = show("loops and operations", loops.rows(covector, jax), options.only)
    operations = kernels.show(kernels.times(covector, jax, options.only))
    kept = []
    if not options.only:
        kept = rematerialization.show(rematerialization.costs(covector, jax))
    threads = None if options.only else compiling.show(compiling.compiling(covector))
    lengths = [] if options.only else scaling.sizes(covector)
    if lengths:
        print("\neqns in one program     trace       lower    memory, each per eqn")
        for size in lengths:
            print(
                f"{size.eqns:>12,}  {size.trace_us:>10.2f} us {size.lower_us:>8.2f} us "
                f"{size.bytes_per_eqn:>8.0f} bytes"
            )
    result = {
        "jaxlib": jaxlib.__version__,
        "jax": jax.__version__,
        "python": platform.python_version(),
        "rows": [row._asdict() | {"ratio": row.ratio} for row in hosts + compiled + looped],
        "kernels": [row._asdict() for row in operations],
        "rematerialization": [cost._asdict() for cost in kept],
        "compiling": threads and threads._asdict() | {"speed_up": threads.speed_up},
        "scaling": [size._asdict() for size in lengths],
    }
    (options.out / "benchmarks.json").write_text(json.dumps(result, indent=1))
    if hosts + compiled:
        picture(options.out / "benchmarks.png", hosts + compiled)
    print(f"\nwritten: {options.out}/benchmarks.json, {options.out}/benchmarks.png")


if __name__ == "__main__":
    main()
