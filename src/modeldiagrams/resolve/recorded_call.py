"""What the author leaves open, as a test or an example of the project calls the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.graph import RECORDED, STALE, Assumption
from modeldiagrams.options.reading import yaml_line
from modeldiagrams.resolve.values.locate import locate

if TYPE_CHECKING:
    from modeldiagrams.options.options import Call

__all__ = ["RecordedOptions", "recorded_options"]


class RecordedOptions(NamedTuple):
    """A call that is completed by what was recorded."""

    call: Call
    seen: str
    """Where."""
    assumptions: tuple[Assumption, ...]

    def not_used(self, reason: str) -> Assumption:
        """What readers see where the model can't be called like that any more."""
        record = "record it again (`modeldiagrams record`)"
        return Assumption(subject="rule", value=STALE, reason=f"the call in {self.seen} fails now ({reason}); {record}")


def recorded_options(call: Call) -> RecordedOptions | None:
    """Complete a call by what was recorded of this very class; None if nothing was.

    Args:
        call: What the author wrote.
    """
    found = next((recorded for path, recorded in (call.recorded or {}).items() if _is_same(path, call.model)), None)
    if found is None or found.graph:
        return None
    values: dict[str, Any] = {}
    if (call.args, call.kwargs, call.config) == (None, None, None):
        values |= {"args": found.args, "kwargs": found.kwargs}
    if (call.inputs, call.inputs_from, call.method) == (None, None, None):
        values |= {"inputs": found.inputs}
    given = {name: value for name, value in values.items() if value is not None}
    reason = f"called as in {found.seen}"
    said = [Assumption(subject=name, value=yaml_line(value), reason=reason) for name, value in given.items()]
    rule = Assumption(subject="rule", value=RECORDED, reason=reason)
    return RecordedOptions(msgspec.structs.replace(call, recorded=None, **given), found.seen, (rule, *said))


def _is_same(path: str, model: str) -> bool:
    """Whether two paths lead to the same object."""
    if path == model:
        return True
    try:
        return locate(path) is locate(model)
    except TargetError:
        return False
