"""`python -m benchmarks.report FILE...`: results of `benchmarks.fused` as one table in Markdown.

Each file becomes two columns, the time to compile and the time of a run, with the ratio to JAX's in
brackets; below the table stands how many programs are slower than JAX, and the geometric means.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .fused import pretty
from .pairs import Pair, geometric_mean


def read(path: Path) -> tuple[str, dict[str, Pair]]:
    """What was measured, and with which jaxlib."""
    found = json.loads(path.read_text())
    pairs = [Pair(**fields) for fields in found["programs"]]
    return found["versions"]["jaxlib"], {pair.name: pair for pair in pairs}


def cell(times: Any, ratio: float) -> str:
    """A time, and its ratio to JAX's."""
    digits = ".2f" if ratio >= 0.1 else ".1g"
    return f"{pretty(times[0])} ({ratio:{digits}})" if len(times) > 1 else pretty(times[0])


def cells(pair: Pair | None) -> str:
    if pair is None:
        return " | "
    return f"{cell(pair.compile, pair.compile_ratio)} | {cell(pair.run, pair.run_ratio)}"


def means(pairs: list[Pair]) -> str:
    """How many programs there are, the means, and how many are slower."""
    compiles, runs = [p.compile_ratio for p in pairs], [p.run_ratio for p in pairs]
    slower = sum(ratio > 1.05 for ratio in runs)
    dear = sum(p.compile_ratio > 1.1 and p.compile[-1] > 0.3 for p in pairs)
    return (
        f"{len(pairs)} programs, geometric means {geometric_mean(compiles):.2f} to compile and "
        f"{geometric_mean(runs):.2f} to run; {slower} run more than 5 % slower, {dear} of those "
        f"that take JAX over 0.3 s compile more than 10 % slower"
    )


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = [read(Path(name)) for name in sys.argv[1:]]
    print("| program | " + " | ".join(f"compile, {v} | run, {v}" for v, _ in found) + " |")
    print("|---" * (1 + 2 * len(found)) + "|")
    for name in dict.fromkeys(name for _, pairs in found for name in pairs):
        print(f"| {name} | " + " | ".join(cells(pairs.get(name)) for _, pairs in found) + " |")
    for version, pairs in found:
        print(f"\njaxlib {version}: {means(list(pairs.values()))}.")


if __name__ == "__main__":
    main()
