"""Runs a traced model at other sizes of its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from modeldiagrams.errors import ModelDiagramsError, TargetError
from modeldiagrams.ir.graph import OpNode
from modeldiagrams.resolve.dimensions.pass_numbers import PassNumbers, read_pass
from modeldiagrams.tracer.recording.work_limit import PassTooLargeError, Work, work_limited

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from modeldiagrams.ir.graph import Failure, Graph
    from modeldiagrams.tracer import Trace

    Sizes: TypeAlias = Mapping[str, int]

__all__ = ["MASKS", "BudgetSpentError", "SizedPasses"]

_MOST_CALLS = 8000
"""How many functions and operators of PyTorch all further passes of a model together may call by default."""
_UNLIMITED = 1 << 60
_READING = {"__index__", "__int__", "argwhere", "bincount", "item", "masked_select", "nonzero", "pack_padded_sequence"}
_READING |= {"_pack_padded_sequence", "repeat_interleave", "tolist", "unique", "unique_consecutive", "unique_dim"}
"""Ops that decide sizes by values."""
_PICKING, MASKS = {"__getitem__", "index"}, {"bool", "uint8"}
"""Ops that do so if they get a mask."""
_MOST_PASSES = 14


class Mover(Protocol):
    """Makes arguments at other sizes, see `moved_inputs`."""

    def move(self, sizes: Sizes) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same arguments at other sizes."""


class BudgetSpentError(ModelDiagramsError):
    """Further passes would take too long."""


class SizedPasses:
    """The further passes of a model."""

    def __init__(self, trace: Trace, mover: Mover, base: Sizes, *, is_limited: bool) -> None:
        """Keep what is traced.

        Args:
            trace: The pass that the graph shows.
            mover: Makes its arguments at other sizes.
            base: The sizes of that pass.
            is_limited: Whether passes are few and small.
        """
        self.base, self.graph = dict(base), trace.graph
        self.tied: dict[str, str] = {}
        """Name of a size → the name whose size it always is."""
        self.ran: list[tuple[Sizes, PassNumbers]] = []
        """Sizes and numbers of the passes that ran as the traced one."""
        self.numbers = read_pass(trace.graph, trace.graph)
        """Of the traced pass."""
        self.other_way: PassNumbers | None = None
        """A pass at other sizes, if the traced one is special: all others run as this one."""
        self.may_loop = True
        """Whether loops may have other numbers of rounds."""
        self.refused: dict[str, dict[int, str]] = {}
        """Name of a size → what it alone may not be, and why."""
        self._trace, self._mover = trace, mover
        self._work = Work(_MOST_CALLS if is_limited else _UNLIMITED)
        self._n_begun, self._most_calls = 0, 0
        self._done: dict[tuple[tuple[str, int], ...], PassNumbers | str] = {}

    def complete(self, moved: Sizes) -> dict[str, int]:
        """All sizes, of which some are not as in the traced pass."""
        sizes = {**self.base, **moved}
        return sizes | {name: sizes[other] for name, other in self.tied.items()}

    def can_spare(self, n_passes: int) -> bool:
        """Whether so many passes are left after one more."""
        return self._n_begun + n_passes < _MOST_PASSES and self._work.calls > (n_passes + 1) * self._most_calls

    def list_decided_by_values(self) -> set[str]:
        """Ids of tensors whose sizes, and of ops whose costs, follow from values of the inputs or assumed values."""
        graph = self.graph
        found = {*graph.status.assumed_tensors, *graph.status.assumed_flops}
        reading = _list_reading(graph)
        if not reading:
            return found
        again = self.assume_fewer(self.base, knows_inputs=False)
        if again is not None:
            return found | {key[1] for key, n in self.numbers.numbers.items() if again.numbers.get(key) != n}
        reached = set(reading)
        for node in graph.nodes:  # edges run forward
            if node.id in reached:
                reached |= {edge.to for edge in graph.adjacency.get(node.id, ())}
        tensors = {tensor for node in graph.nodes if node.id in reached for tensor in getattr(node, "outputs", ())}
        return found | reached | tensors

    def assume_fewer(self, sizes: Sizes, **how: bool) -> PassNumbers | None:
        """The numbers of a pass that assumes other sizes of what values decide; None if it runs in another way.

        Args:
            sizes: Those of the inputs.
            how: As `Rerun` says.

        Raises:
            BudgetSpentError: if that would take too long.
        """
        arguments = self._move(sizes) if sizes != self.base else None
        if isinstance(arguments, str):
            return None
        with work_limited(self._work):
            other, _ = self._trace.rerun(lambda _: None, assumes_fewer=True, arguments=arguments, **how)  # type: ignore[misc]
        error = other.status.error
        if error is not None and error.type == PassTooLargeError.__name__:
            raise BudgetSpentError("models of this length are not run again unless `dims` is written")
        numbers = None if error else read_pass(self.graph, other)
        return numbers if numbers and numbers.difference == ([], []) else None

    def run(self, moved: Sizes) -> PassNumbers | str:
        """Run a pass.

        Args:
            moved: Sizes that differ from those of the traced pass.

        Returns:
            Its numbers, or why it doesn't count: the model's message, or what changes.

        Raises:
            BudgetSpentError: if that would take too long.
        """
        sizes = self.complete(moved)
        key = tuple(sizes.items())
        if key not in self._done:
            if self._n_begun == _MOST_PASSES:
                raise BudgetSpentError(f"{_MOST_PASSES} passes, the most")
            self._n_begun += 1
            calls = self._work.calls
            self._done[key] = self._run(sizes)
            self._most_calls = max(self._most_calls, calls - self._work.calls)
        found = self._done[key]
        found = found if isinstance(found, str) else self._find_change(found) or found
        if isinstance(found, str):
            if len(moved) == 1:
                ((name, size),) = moved.items()
                self.refused.setdefault(name, {})[size] = found
        elif all(each is not found for _, each in self.ran):
            self.ran.append((sizes, found))
        return found

    def is_special(self, one: Sizes, another: Sizes) -> bool:
        """Whether the traced pass differs in the same way from two others, which then count.

        Raises:
            BudgetSpentError: as `run`.
        """
        first = self._done.get(tuple(self.complete(one).items()))
        if not isinstance(first, PassNumbers):
            return False
        self.run(another)
        second = self._done[tuple(self.complete(another).items())]
        if not isinstance(second, PassNumbers):
            return False
        if self.other_way or first.difference == ([], []) or first.difference != second.difference:
            return False
        self.other_way = first
        return True

    def forbid_loops(self) -> None:
        """Let passes count only if all loops have as many rounds as in the traced one."""
        self.may_loop = False
        self.ran = [(sizes, each) for sizes, each in self.ran if not each.rounds]

    def _run(self, sizes: Sizes) -> PassNumbers | str:
        arguments = self._move(sizes)
        if isinstance(arguments, str):
            return arguments
        with work_limited(self._work):
            graph, _ = self._trace.rerun(lambda _: None, arguments=arguments)  # type: ignore[misc]
        error = graph.status.error
        if error is None:
            return read_pass(self.graph, graph)
        if error.type == PassTooLargeError.__name__:
            raise BudgetSpentError("models of this length are not run again unless `dims` is written")
        return _describe(error)

    def _move(self, sizes: Sizes) -> tuple[tuple[Any, ...], dict[str, Any]] | str:
        """The inputs at other sizes, or why the author's function makes none of these."""
        try:
            return self._mover.move({name: size for name, size in sizes.items() if size != self.base[name]})
        except TargetError as error:
            return str(error).partition("\n")[0]

    def _find_change(self, found: PassNumbers) -> str:
        """What a pass does in another way, in a few words; empty if nothing that matters."""
        expected = [([], []), self.other_way.difference] if self.other_way else [([], [])]
        if found.difference not in expected:
            return f"the graph changes: {(*(node.id for node in found.new), *found.lost)[0]}"
        return f"the graph changes: {found.rounds[0]} runs more often" if found.rounds and not self.may_loop else ""


def _list_reading(graph: Graph) -> list[str]:
    """Ids of the ops that make something of a size that values decide."""
    masked = {
        edge.to
        for edges in graph.adjacency.values()
        for edge in edges
        if edge.argument != "self" and graph.tensors[edge.tensor].dtype in MASKS
    }
    found = []
    for op in graph.nodes:
        name = op.name.rpartition(".")[2] if isinstance(op, OpNode) else ""
        if name in _READING or (name in _PICKING and op.id in masked):
            found.append(op.id)
    return found


def _describe(error: Failure) -> str:
    line = error.message.strip().partition("\n")[0][:200]
    where = f" ({error.frames[-1].file.rpartition('/')[2]}:{error.frames[-1].line})" if error.frames else ""
    return f"{error.type.rpartition('.')[2]}: {line}{where}"
