"""Python numbers that left torch and come back as an argument: ``y * x.max().item()``.

A float that `item` returns is an object of its own. If the very same object is given to an op, the one comes from the
other, whatever happened in between. What was computed of it in Python is another object, and its origin is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.recorder import Recorder
from modeldiagrams.tracer.recording import Op, Spec, Value
from modeldiagrams.tracer.schemas import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.tracer.ops import Function

__all__ = ["follow_numbers"]

_MAX_ITEMS = 1024
_MAX_DEPTH = 4
_SHARED = range(-5, 257)
"""Python has one object for each of these, whoever made it."""


def follow_numbers(recorder: Recorder, value: Any, op: Op) -> None:
    """Link what left torch through an op to the ops that take it.

    Costs nothing in passes in which no values leave torch: only then does the recorder look at numbers.

    Args:
        recorder: Records the pass.
        value: What the op returned: a number, a nested list of them, an array.
        op: Through which it left.
    """
    if not isinstance(recorder, _Linking):
        recorder.__class__ = _Linking
        vars(recorder)["numbers"] = {}
    vars(recorder)["numbers"].update((id(item), (item, op)) for item in _own_objects(value))


def _own_objects(value: Any) -> Iterator[Any]:
    """A value, and what is in it, as far as nobody else has the same objects."""
    if isinstance(value, bool | str | None) or (isinstance(value, int) and value in _SHARED):
        return
    yield value
    if isinstance(value, list):
        for item in value[:_MAX_ITEMS]:
            yield from _own_objects(item)


class _Linking(Recorder):
    """A recorder that looks for numbers that left torch in this pass."""

    numbers: dict[int, tuple[Any, Op]]
    """What left torch by its id, kept so that the id stays its own, and the op through which it did."""

    def observe(self, function: Function, run: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        steps, strand = self.recording.steps, self.here.strand
        start = len(steps)
        result = super().observe(function, run, args, kwargs)
        added = (step for step in reversed(steps[start:]) if isinstance(step, Op) and step.strand == strand)
        op = next(added, None)
        if op is not None and op.site.name == function.name:
            given = [*bind(run, args), *kwargs.items()]
            self._link(op, [link for name, value in given for link in self._left_through(value, name)])
        return result

    def _left_through(self, value: Any, place: str, depth: int = 0) -> Iterator[tuple[str, Op]]:
        """The ops through which numbers in a value left torch, and where in the value they are."""
        if id(value) in self.numbers:
            yield place, self.numbers[id(value)][1]
        elif isinstance(value, list | tuple) and depth < _MAX_DEPTH:
            for i, item in enumerate(value[:_MAX_ITEMS]):
                yield from self._left_through(item, f"{place}[{i}]", depth + 1)

    def _link(self, op: Op, links: list[tuple[str, Op]]) -> None:
        if not links:
            return
        for feed in [feed for feed in op.feeds if feed[0] == ""]:  # a likely source; here are sure ones
            op.feeds.remove(feed)
            feed[1].origin.outputs.remove(feed[1])
        op.feeds += [(place, _value_read(read), "inferred") for place, read in dict(links).items() if read is not op]


def _value_read(read: Op) -> Value:
    """What left torch through an op, as its one output."""
    if not read.outputs:
        dtype = read.feeds[0][1].spec.dtype if read.feeds else "float32"
        read.add_output(Spec((), dtype, 0)).inferred = True
    return read.outputs[0]
