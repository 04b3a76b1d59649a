"""Tells a fault of the tracer from an error of the model, by the traceback."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.common.class_facts import get_qualified_name

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["find_fault"]

_TRACER = Path(__file__).parent.parent
_CALLERS = {
    "recording/counting.py": {"run_and_count", "_run_beneath"},
    "recording/dispatch_recorder.py": {"__torch_dispatch__"},
    "recording/endless_loops.py": {"add"},
    "recording/module_calls.py": {"run", "run_function", "run_root", "_run_scripted"},
    "recording/op_recorder.py": {"__torch_function__"},
    "recording/watched_recorder.py": {"__torch_function__"},
    "recording/timed_recorder.py": {"run_call"},
    "recording/work_limit.py": {"count_call"},
    "values/entry_calls.py": {"entry", "run_generator"},
    "forward_pass.py": {"_keep_error", "_run_model"},
}
"""Functions of the tracer that run the model or a function of torch for it, or raise on the model's account."""
_CALLING_ROOMS = ("decisions", "fake", "patches")
"""Rooms whose functions do so."""
_OF_THE_MACHINE = (MemoryError, OSError, RecursionError)
"""Errors that happen wherever the model has come to its limits."""


def find_fault(error: BaseException | None) -> str | None:
    """Describe the fault of the tracer that an error is, or that led to it; None for an error of the model."""
    seen: set[int] = set()
    while isinstance(error, Exception) and id(error) not in seen:
        seen.add(id(error))
        # their tracebacks may have thousands of frames, at each of as many calls
        is_of_machine = isinstance(error, _OF_THE_MACHINE)
        if not is_of_machine and (place := _place(error.__traceback__)) is not None:
            return f"{get_qualified_name(type(error))} in {place}: {error}"
        error = error.__cause__ or error.__context__
    return None


def _place(traceback: TracebackType | None) -> str | None:
    """File and line of the innermost function of the tracer, if that is no caller of the model."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        path = Path(code.co_filename)
        if _TRACER in path.parents:
            file = path.relative_to(_TRACER).as_posix()
            is_caller = file.partition("/")[0] in _CALLING_ROOMS or code.co_name in _CALLERS.get(file, ())
            found = None if is_caller else f"tracer/{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found
