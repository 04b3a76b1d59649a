"""``file:line`` of user code: relative to the import root, never absolute."""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import re
import sys
import sysconfig
import weakref
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.graph import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FrameType, TracebackType

    from modeldiagrams.tracer.recording import Call

__all__ = ["SourceFinder", "class_source", "relative_file", "user_files"]

_TORCH = str(Path(torch.__file__).parent) + "/"
_OWN = str(Path(__file__).parent) + "/"
_PACKAGE = str(Path(__file__).parents[1]) + "/"
_MODULE = str(torch.nn.modules.module.__file__)
_MAX_FRAMES = 64
_STDLIB = sysconfig.get_path("stdlib") + "/"


@functools.lru_cache(maxsize=1024)
def relative_file(file: str, module: str) -> str:
    """A file's path below its import root.

    Args:
        file: Absolute path.
        module: The module's dotted name, which says how many folders lie between it and the import root.

    Returns:
        For example ``transformers/models/bert/modeling_bert.py``; the bare file name where the two don't agree.
    """
    path = Path(file)
    parts = module.split(".")
    if path.stem == "__init__":
        parts = [*parts, "__init__"]
    tail = path.with_suffix("").parts[-len(parts) :]
    return "/".join((*path.parts[-len(parts) : -1], path.name)) if list(tail) == parts else path.name


_class_sources: weakref.WeakKeyDictionary[type, str | None] = weakref.WeakKeyDictionary()
"""Found out once per process: a class stays where it was written."""


def class_source(class_: Any) -> str | None:
    """Where a class or function is defined, as ``file:line``; None if that can't be told."""
    if not isinstance(class_, type):
        return _find_source(inspect.unwrap(getattr(class_, "__func__", class_)))  # not where a decorator is written
    if class_ not in _class_sources:
        _class_sources[class_] = _find_source(class_)
    return _class_sources[class_]


def _find_source(class_: Any) -> str | None:
    """The same; `inspect.getsourcelines` would parse the whole file, a third of a second for a large model's."""
    try:
        file = inspect.getsourcefile(class_)
    except Exception:  # noqa: BLE001 - asks everything in `sys.modules`, where anything may stand in for a module
        return None
    if not file or file.startswith("<"):  # typed in, with a number that counts what was typed in before
        return None
    line = class_.__code__.co_firstlineno if inspect.isfunction(class_) else _class_line(class_, file)
    return f"{relative_file(file, class_.__module__)}:{line}" if line else None


def _class_line(class_: type, file: str) -> int | None:
    """The last line before its first method that begins a class of this name."""
    lines = linecache.getlines(file)
    pattern = re.compile(rf"\s*class {re.escape(class_.__name__)}\b")
    codes = [method.__code__ for method in vars(class_).values() if inspect.isfunction(method)]
    first = min((code.co_firstlineno for code in codes if code.co_filename == file), default=len(lines) + 1)
    above = range(min(first, len(lines) + 1) - 1, 0, -1)
    return next((line for line in above if pattern.match(lines[line - 1])), None)


class SourceFinder:
    """Finds the line of user code behind the running call."""

    def __init__(self, boundary: CodeType, module_call: CodeType) -> None:
        """Get ready to look.

        Args:
            boundary: The function that runs the pass: what called it is not looked at.
            module_call: The function that runs a module inside a call of its own.
        """
        self._boundary = boundary
        self._module_call = module_call
        self._known: dict[int, _Code] = {}
        self._ways: dict[Any, tuple[int, CodeType, int]] = {}
        """How far above a call the forward function and the module call are that it is made in."""
        self.files: set[str] = set()
        """Absolute files that user code ran from."""

    def here(self, stack: Sequence[Call], above: int, function: object = None) -> str | None:
        """``file:line`` of the innermost user frame above the boundary, or None.

        Most frames are torch's own, and to walk through them takes longer than all else that is noted of an op. So it
        ends at the module call that is running, which knows what it was called from; and for what is called there once
        more in the same way, two frames on the way tell that it is the same.

        Args:
            stack: The module calls that are running.
            above: So many frames above this one are not looked at.
            function: What is called.
        """
        getframe = sys._getframe  # noqa: SLF001 - the documented way costs 100 times more
        frame = getframe(above)
        code = self._known.get(id(frame.f_code)) or self._learn(frame)
        if code.name is not None:
            return code.places.get(frame.f_lasti) or code.place(frame)
        call = stack[-1]
        key = (function, code, type(call.module))
        way = self._ways.get(key)
        if way is not None:
            near, forward, far = way
            try:
                if (
                    getframe(above + near).f_code is forward
                    and getframe(above + far).f_code is self._module_call
                    and "forward" not in call.module.__dict__  # else user code may run on the way
                ):
                    return call.place
            except ValueError:  # no frame there
                pass
        walked = []
        while not code.stops:
            walked.append(code.code)
            if frame.f_back is None:
                return None
            frame = frame.f_back
            code = self._known.get(id(frame.f_code)) or self._learn(frame)
        if code.name is not None:
            return code.places.get(frame.f_lasti) or code.place(frame)
        if code.code is self._boundary:
            return None
        near = max((i for i, passed in enumerate(walked) if not _is_between(passed.co_filename)), default=0)
        self._ways[key] = (near, walked[near], len(walked))
        return call.place

    def global_name(self, value: Any) -> str | None:
        """The dotted name of a global variable of the running code that holds this very object, or None."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as above
        while frame is not None and frame.f_code is not self._boundary:
            names = (name for name, held in frame.f_globals.items() if held is value)
            if (name := next(names, None)) is not None:
                return f"{frame.f_globals.get('__name__')}.{name}"
            frame = frame.f_back
        return None

    def mentions(self, name: str) -> bool:
        """Whether a function of user code that is running uses a name: a global variable or an attribute."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as above
        while frame is not None and frame.f_code is not self._boundary:
            if name in frame.f_code.co_names and self._name(frame) is not None:
                return True
            frame = frame.f_back
        return False

    def frames(self, traceback: TracebackType | None) -> tuple[Frame, ...]:
        """The user-code frames of a traceback, innermost last; the innermost of very many."""
        found: deque[tuple[TracebackType, str]] = deque(maxlen=_MAX_FRAMES)
        while traceback is not None:
            name = self._name(traceback.tb_frame)
            if name is not None:
                found.append((traceback, name))
            traceback = traceback.tb_next
        return tuple(itertools.starmap(_frame, found))

    def _name(self, frame: FrameType) -> str | None:
        """The relative file of a frame of user code; None for torch's, ours and generated code."""
        return (self._known.get(id(frame.f_code)) or self._learn(frame)).name

    def _learn(self, frame: FrameType) -> _Code:
        file = frame.f_code.co_filename
        name = None
        if _is_user_file(file):
            self.files.add(file)
            name = relative_file(file, str(frame.f_globals.get("__name__")))
        stops = name is not None or frame.f_code in (self._boundary, self._module_call)
        code = self._known[id(frame.f_code)] = _Code(frame.f_code, name, stops)
        return code


@dataclass(slots=True, eq=False)
class _Code:
    """A function that runs. Models run the same lines for every layer, and counting lines is slow."""

    code: CodeType
    """Kept, so that its id stays its own: its hash would be computed anew each time."""
    name: str | None
    """The file; None where it is not user code."""
    stops: bool
    """Whether to look no further, or to look closer."""
    places: dict[int, str] = field(default_factory=dict)
    """``file:line`` by instruction."""

    def place(self, frame: FrameType) -> str:
        """``file:line`` of the instruction that runs."""
        place = self.places[frame.f_lasti] = f"{self.name}:{frame.f_lineno}"
        return place


def _is_between(file: str) -> bool:
    """Whether code in a file runs between a module's call and its forward function."""
    return file == _MODULE or file.startswith(_OWN)


def _is_user_file(file: str) -> bool:
    """Whether code in a file belongs to the model: not torch, not us, not the standard library, not generated."""
    if file.startswith((_TORCH, _OWN, "<")):
        return False
    return not file.startswith(_STDLIB) or "/site-packages/" in file


def _frame(traceback: TracebackType, name: str) -> Frame:
    code = traceback.tb_frame.f_code
    line = traceback.tb_lineno
    return Frame(
        file=name,
        line=line,
        function=code.co_qualname,
        code=linecache.getline(code.co_filename, line).strip()[:200],
    )


def user_files(ran: set[str]) -> tuple[str, ...]:
    """The user's own among the files that code ran from.

    Args:
        ran: All of them.

    Returns:
        Absolute paths, sorted; no installed packages, not the standard library, not this package.
    """
    files = (file for file in ran if "/site-packages/" not in file)
    return tuple(sorted(file for file in files if _is_user_file(file) and _is_own_work(file)))


def _is_own_work(file: str) -> bool:
    return file.endswith(".py") and not file.startswith(_PACKAGE) and Path(file).is_absolute()
