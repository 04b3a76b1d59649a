"""Makes the status of a graph: the error that ended its pass, assumed values, and notes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from modeldiagrams.common.class_facts import get_qualified_name, readable_name
from modeldiagrams.ir.graph import OWN_FAILURE, Failure, Guess, Status
from modeldiagrams.tracer.torch_facts.functions import without_addresses
from modeldiagrams.tracer.values.pass_records import Op

if TYPE_CHECKING:
    from modeldiagrams.tracer.values.pass_records import ModuleCall, PassRecord
    from modeldiagrams.tracer.values.source_lines import SourceFinder

_MAX_MESSAGE = 2000
_THREADS_NOTE = "Several threads ran operations; the order between threads can differ from run to run"


def build_status(
    recording: PassRecord, finder: SourceFinder, mode: Literal["fake", "meta", "real"], notes: tuple[str, ...]
) -> Status:
    """Build the status of a graph, without ``unseen``, which `build_graph` fills in."""
    error, failed_at = recording.error, recording.failed_at
    failure = None
    if recording.fault is not None:
        fault, call = recording.fault
        failure = Failure(type=OWN_FAILURE, message=_describe_fault(fault, call.id), node=call.id or None)
    elif error is not None:
        failure = Failure(
            type=readable_name(get_qualified_name(type(error))),
            message=without_addresses(_read_message(error))[:_MAX_MESSAGE],
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
        notes=(*notes, *_note_loops(recording), *([_THREADS_NOTE] if recording.has_threads else [])),
    )


def _describe_fault(fault: str, call: str) -> str:
    where = f"`{call}`" if call else "the model"
    return without_addresses(f"failed while it recorded {where}: {fault}; please report this")[:_MAX_MESSAGE]


def _note_loops(recording: PassRecord) -> list[str]:
    """Write a note for each line that asked several times, in one module call, for a value that decides a branch.

    A single assumed answer is enough for a note: it may have ended a loop whose earlier answers were known.
    """
    guesses = [op for op, value, _ in recording.guesses if op is not None and not isinstance(value, str)]
    assumed = Counter(map(_make_key, guesses))
    asked = Counter(map(_make_key, (step for step in recording.steps if type(step) is Op))) if guesses else Counter()
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


def _make_key(op: Op) -> tuple[ModuleCall, str | None, str]:
    """Key of a question: its module call, line and function."""
    return op.parent, op.site.source, op.site.function.name


def _read_message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (the model's own exception class)
        return ""
