"""How a pass went: the error that ended it, values that were assumed, and notes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from modeldiagrams.common.class_facts import qualified_name
from modeldiagrams.ir.graph import Failure, Guess, Status
from modeldiagrams.tracer.torch_facts.functions import without_addresses
from modeldiagrams.tracer.values.records import Op

if TYPE_CHECKING:
    from modeldiagrams.tracer.values.records import ModuleCall, Recording
    from modeldiagrams.tracer.values.source_lines import SourceFinder

_MAX_MESSAGE = 2000
_THREADS_NOTE = "Several threads ran operations; the order between threads can differ from run to run"


def status_of(
    recording: Recording, finder: SourceFinder, mode: Literal["fake", "meta", "real"], notes: tuple[str, ...]
) -> Status:
    """The status of a graph, without ``unseen``, which is known when it is built."""
    error, failed_at = recording.error, recording.failed_at
    failure = None
    if error is not None:
        failure = Failure(
            type=qualified_name(type(error)),
            message=without_addresses(_message(error))[:_MAX_MESSAGE],
            node=failed_at.id if failed_at is not None and failed_at is not recording.root else None,
            frames=finder.frames(error.__traceback__),
        )
    return Status(
        state="complete" if failure is None else "partial",
        mode=mode,
        error=failure,
        guesses=tuple(
            Guess(node=None if op is None else op.id, value=value, reason=reason)
            for op, value, reason in recording.guesses
        ),
        notes=(*notes, *_loop_notes(recording), *([_THREADS_NOTE] if recording.has_threads else [])),
    )


def _loop_notes(recording: Recording) -> list[str]:
    """One for each line that asked several times in one module call for a value that decides what Python does.

    One assumed answer is enough: it may have ended a loop whose earlier answers were known.
    """
    guesses = [op for op, value, _ in recording.guesses if op is not None and not isinstance(value, str)]
    assumed = Counter(map(_question, guesses))
    asked = Counter(map(_question, (step for step in recording.steps if type(step) is Op))) if guesses else Counter()
    most: dict[str, tuple[int, bool]] = {}
    for (parent, source, name), count in assumed.items():
        times = max(count, asked[parent, source, name])
        if source is not None and times > 1:
            most[source] = max((times, times == count), most.get(source, (0, False)))
    what = "computed: what the model does there, and when a loop ends, is assumed"
    return [
        f"{source} asked {times} times for a value that was not {'' if always else 'always '}{what}"
        for source, (times, always) in most.items()
    ]


def _question(op: Op) -> tuple[ModuleCall, str | None, str]:
    """What all questions of one line in one module call share."""
    return op.parent, op.site.source, op.site.name


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (the model's own exception class)
        return ""
