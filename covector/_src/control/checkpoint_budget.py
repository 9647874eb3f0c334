"""What to save of a program so that it fits a budget of bytes, and what to compute again instead.

Let some of the program's ops be *recomputable*.  A set of saved values will do if all residuals
follow from it and from the inputs by recomputable ops.  The least bytes of such a set are a minimum
cut: split each variable into an edge of the capacity of its bytes; let data flow, unhindered, from
operands to results of recomputable ops, from a source into the results of the others, and from the
residuals into a sink.  The edges of the minimum cut are the variables to save.

The more ops are recomputable, the fewer bytes are needed.  So ops are admitted from the cheapest to
the dearest, elementwise ones before sums, and products of matrices by their flops, until the cut
fits the budget: the least work for that memory, in that order.

Source of the method: the min-cut rematerialization of functorch's ahead-of-time autograd (He, Yu
et al. 2022); the max-flow is Dinic's (1970).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import prod
from typing import Any

from ..core.jaxpr import Jaxpr, JaxprEqn, Literal, Var

INFINITY = 1 << 62


class Budget:
    """A policy that saves at most so many bytes.

    Args:
      limit: bytes of saved values; the inputs of the program, which are there anyway, do not count.
    """

    def __init__(self, limit: int):
        self.limit = limit

    def __repr__(self) -> str:
        return f"Budget({self.limit})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Budget) and self.limit == other.limit

    def __hash__(self) -> int:
        return hash((Budget, self.limit))

    def choose(self, body: Jaxpr, residuals: Sequence[Any]) -> list[Var]:
        """The variables to save, of a program whose values `residuals` are needed again."""
        order = sorted(range(len(body.eqns)), key=lambda i: cost(body.eqns[i]))
        low, high = 0, len(order)  # how many ops have to be recomputable: low - 1 < k <= high
        best = minimum_cut(body, residuals, set(order))
        while low < high:
            middle = (low + high) // 2
            cut = minimum_cut(body, residuals, set(order[:middle]))
            if sum(map(bytes_of, cut)) <= self.limit:
                best, high = cut, middle
            else:
                low = middle + 1
        return best


def bytes_of(var: Any) -> int:
    """The bytes of a variable's values."""
    dtype = var.aval.dtype
    return var.aval.size * getattr(dtype, "itemsize", 8)


def cost(eqn: JaxprEqn) -> tuple[int, int]:
    """What an eqn costs when it is computed again: the class of its work, and the work.

    Classes: elementwise and rearranging ops, whose results are no smaller than their operands;
    sums and the like; products of matrices, and loops.
    """
    out = sum(var.aval.size for var in eqn.outvars)
    operands = [a.aval.size for a in eqn.invars if hasattr(a.aval, "size")]
    if eqn.primitive.name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        shape = eqn.invars[0].aval.shape
        return 2, 2 * out * prod(shape[dim] for dim in contracted)
    if eqn.primitive.name == "conv_general_dilated":
        kernel = eqn.invars[1].aval.size
        return 2, 2 * out * kernel
    if any(hasattr(value, "eqns") for value in eqn.params.values()):
        return 3, sum(operands) + out
    return (1 if max(operands, default=0) > out else 0), sum(operands) + out


def minimum_cut(body: Jaxpr, residuals: Sequence[Any], recomputable: set[int]) -> list[Var]:
    """The variables of the fewest bytes from which all residuals can be computed again.

    Args:
      body: the program.
      residuals: variables and literals of it.
      recomputable: which of its eqns may be computed again, by their positions.
    """
    position = {var: i for i, var in enumerate(v for eqn in body.eqns for v in eqn.outvars)}
    source, sink = 2 * len(position), 2 * len(position) + 1
    flow = MaximumFlow(sink + 1)
    for var, i in position.items():
        flow.add(2 * i, 2 * i + 1, bytes_of(var))
    for number, eqn in enumerate(body.eqns):
        for var in eqn.outvars:
            entrance = 2 * position[var]
            if number not in recomputable or eqn.effects:
                flow.add(source, entrance, INFINITY)
                continue
            for atom in eqn.invars:
                if type(atom) is not Literal and atom in position:
                    flow.add(2 * position[atom] + 1, entrance, INFINITY)
    for atom in residuals:
        if type(atom) is not Literal and atom in position:
            flow.add(2 * position[atom] + 1, sink, INFINITY)
    reached = flow.run(source, sink)
    return [var for var, i in position.items() if reached[2 * i] and not reached[2 * i + 1]]


class MaximumFlow:
    """Dinic's algorithm: augment along shortest paths, many at a time.

    Args:
      nodes: how many there are.
    """

    def __init__(self, nodes: int):
        self.edges_of: list[list[int]] = [[] for _ in range(nodes)]
        # Edge i leads to heads[i] with the capacity left in room[i]; i ^ 1 is its reverse.
        self.heads: list[int] = []
        self.room: list[int] = []

    def add(self, tail: int, head: int, capacity: int) -> None:
        """Add an edge."""
        for start, end, room in ((tail, head, capacity), (head, tail, 0)):
            self.edges_of[start].append(len(self.heads))
            self.heads.append(end)
            self.room.append(room)

    def run(self, source: int, sink: int) -> list[bool]:
        """Send as much as possible; returns which nodes the source still reaches."""
        while True:
            levels = self._levels(source)
            if levels[sink] < 0:
                return [level >= 0 for level in levels]
            untried = [0] * len(levels)
            while self._augment(source, sink, levels, untried):
                pass

    def _levels(self, source: int) -> list[int]:
        """The distance of each node from the source, or -1."""
        levels = [-1] * len(self.edges_of)
        levels[source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for edge in self.edges_of[node]:
                head = self.heads[edge]
                if self.room[edge] and levels[head] < 0:
                    levels[head] = levels[node] + 1
                    queue.append(head)
        return levels

    def _augment(self, source: int, sink: int, levels: list[int], untried: list[int]) -> int:
        """Send what fits along one path down the levels; an explicit stack, for deep programs."""
        path: list[int] = []
        node = source
        while node != sink:
            edges = self.edges_of[node]
            while untried[node] < len(edges):
                edge = edges[untried[node]]
                if self.room[edge] and levels[self.heads[edge]] == levels[node] + 1:
                    break
                untried[node] += 1
            else:
                if not path:
                    return 0
                last = path.pop()
                node = self.heads[last ^ 1]
                untried[node] += 1
                continue
            path.append(edge)
            node = self.heads[edge]
        sent = min(self.room[edge] for edge in path)
        for edge in path:
            self.room[edge] -= sent
            self.room[edge ^ 1] += sent
        return sent
