"""Records NVTX ranges, which name the ops inside for profilers, like `record_function`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldiagrams.tracer.recording.op_recorder import OpRecorder

__all__ = ["RecordedRanges"]


class RecordedRanges:
    """Replaces torch's NVTX binding, which in builds without CUDA is a stub that raises."""

    def __init__(self, recorder: OpRecorder, original: Any) -> None:
        self._recorder = recorder
        self._original = original
        self._is_stub = not hasattr(original, "rangeStartA")
        self._local = threading.local()

    def rangePushA(self, message: str) -> Any:  # noqa: N802  (torch's name)
        """Begin a range."""
        entered = self._entered
        entered.append(self._recorder.begin_scope(str(message)))
        return len(entered) - 1 if self._is_stub else self._original.rangePushA(message)

    def rangePop(self) -> Any:  # noqa: N802  (torch's name)
        """End the innermost range; there may be none."""
        entered = self._entered
        if entered:
            self._recorder.context.scopes.exit(entered.pop())
        return len(entered) if self._is_stub else self._original.rangePop()

    @property
    def _entered(self) -> list[Any]:
        """The open ranges of this thread; None for a range that is not recorded."""
        ranges: list[Any] = vars(self._local).setdefault("ranges", [])
        return ranges

    def __getattr__(self, name: str) -> Any:
        """Pass on the rest: marks, and ranges that may end in another thread."""
        return _nothing if self._is_stub else getattr(self._original, name)


def _nothing(*_: object) -> int:
    return 0
