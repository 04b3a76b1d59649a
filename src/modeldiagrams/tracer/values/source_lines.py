"""Finds ``file:line`` of user code, relative to the import root."""

from __future__ import annotations

import inspect
import itertools
import linecache
import os
import re
import sys
import weakref
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.nn.utils import rnn

from modeldiagrams.common.class_facts import find_module, name_of
from modeldiagrams.common.user_files import is_model_code, is_user_file, shorten_path
from modeldiagrams.ir.graph import Frame
from modeldiagrams.tracer.torch_facts.nested_values import find_tensors
from modeldiagrams.tracer.torch_facts.private_api import CALL_IMPLEMENTATION
from modeldiagrams.tracer.values.scopes import CodeInfo, argument_values, function_names, parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType, TracebackType

    from modeldiagrams.tracer.values.pass_records import ModuleCall
    from modeldiagrams.tracer.values.scopes import Scopes

_TRACER = str(Path(__file__).parents[1]) + os.sep
_SEARCHED = (Tensor, tuple, list, dict)
"""Classes of arguments that are searched for tensors."""
_STEPS = frozenset(function.__code__ for function in (rnn.pack_padded_sequence, rnn.pad_packed_sequence))
"""Functions of PyTorch in Python that readers know as one step, shown like functions of the model."""
_MAX_FRAMES = 64
"""Most frames of a traceback in a graph."""

_class_sources: weakref.WeakKeyDictionary[type, str | None] = weakref.WeakKeyDictionary()
"""Cache of `class_source`."""


def class_source(class_: Any) -> str | None:
    """Where a class or function is defined, as ``file:line``; None if unknown."""
    if not isinstance(class_, type):
        return _find_source(inspect.unwrap(getattr(class_, "__func__", class_)))  # not its decorator
    if class_ not in _class_sources:
        _class_sources[class_] = _find_source(class_)
    return _class_sources[class_]


def _find_source(class_: Any) -> str | None:
    """Find `class_source` without `inspect.getsourcelines`, which parses the whole file (0.3 s for a large model)."""
    try:
        file = inspect.getsourcefile(class_)
    except Exception:  # noqa: BLE001 - it reads everything in `sys.modules`
        return None
    if not file or file.startswith("<"):  # a notebook cell, whose number depends on the session
        return None
    line = class_.__code__.co_firstlineno if inspect.isfunction(class_) else _class_line(class_, file)
    module = find_module(class_) if isinstance(class_, type) else class_.__module__
    return f"{shorten_path(file, module)}:{line}" if line else None


def _class_line(class_: type, file: str) -> int | None:
    """The last line before the first method that begins a class of this name."""
    lines = linecache.getlines(file)
    pattern = re.compile(rf"\s*class {re.escape(name_of(class_))}\b")
    codes = [method.__code__ for method in vars(class_).values() if inspect.isfunction(method)]
    first = min((code.co_firstlineno for code in codes if code.co_filename == file), default=len(lines) + 1)
    above = range(min(first, len(lines) + 1) - 1, 0, -1)
    return next((line for line in above if pattern.match(lines[line - 1])), None)


class SourceFinder:
    """Finds the line of user code behind the running call."""

    def __init__(self, boundary: CodeType, module_call: CodeType) -> None:
        """Find lines inside `boundary`, the code that runs the pass. `module_call` is the code of one module call."""
        self._boundary = boundary
        self._ends = (boundary, module_call, getattr(CALL_IMPLEMENTATION, "__code__", None))
        self._codes: dict[int, CodeInfo] = {}
        """By ``id`` of the code object, whose hash Python would recompute each time."""
        self.files: set[str] = set()
        """Absolute paths of files whose code ran."""
        self.values_of: Callable[[Tensor], Sequence[Any]] = lambda _: ()
        """Returns the values that a tensor holds; set by `OpRecorder`."""

    def current_line(self, stack: Sequence[ModuleCall], scopes: Scopes | None = None) -> str | None:
        """Find `line_of` the frame that called the tracer."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 (`inspect.stack` is 100 times slower)
        while frame is not None and self._code(frame).is_tracer:
            frame = frame.f_back
        return self.line_of(frame, stack, scopes)

    def line_of(self, frame: FrameType | None, stack: Sequence[ModuleCall], scopes: Scopes | None) -> str | None:
        """``file:line`` of the innermost user frame inside the boundary, or None.

        The walk ends at the running module call, the last one on `stack`, which knows its own caller. Updates the
        `scopes` of that module call.
        """
        if frame is None:
            return None
        code = self._codes.get(id(frame.f_code))
        while code is not None and not code.ends_walk:
            frame = frame.f_back
            if frame is None:
                return None
            code = self._codes.get(id(frame.f_code))
        if code is None:  # the first time
            self._code(frame)
            return self.line_of(frame, stack, scopes)
        if code.file is None:
            if scopes is not None:
                scopes.current = None
            return None if code.code is self._boundary else stack[-1].source
        if scopes is not None:
            if frame.f_trace is not scopes.innermost:  # for most ops it is
                scopes.begin(frame, self._code, self._find_inputs)
            scopes.current = scopes.running[scopes.innermost]
        if code.code in _STEPS:
            return self.line_of(frame.f_back, stack, None)
        return code.lines.get(frame.f_lasti) or code.line(frame)

    def global_name(self, value: Any) -> str | None:
        """Dotted name of a global variable, in a Python module that is running, that holds this object; or None."""
        for frame in self._running():
            name = next((name for name, held in frame.f_globals.items() if held is value), None)
            if name is not None:
                return f"{frame.f_globals.get('__name__')}.{name}"
        return None

    def mentions(self, name: str) -> bool:
        """Whether a running user function uses a name, as a global variable or an attribute."""
        return any(name in frame.f_code.co_names and self._code(frame).file is not None for frame in self._running())

    def user_frame(self) -> tuple[FrameType, str] | None:
        """The innermost running function of the user inside the boundary, and its ``file:line``."""
        found = ((frame, self._code(frame)) for frame in self._running())
        return next(((frame, code.line(frame)) for frame, code in found if code.file is not None), None)

    def _running(self) -> Iterator[FrameType]:
        """The running functions inside the boundary, the innermost first."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 (see `current_line`)
        while frame is not None and frame.f_code is not self._boundary:
            yield frame
            frame = frame.f_back

    def frames(self, traceback: TracebackType | None) -> tuple[Frame, ...]:
        """The innermost user frames of a traceback, the innermost last."""
        found: deque[tuple[TracebackType, str]] = deque(maxlen=_MAX_FRAMES)
        while traceback is not None:
            file = self._code(traceback.tb_frame).file
            if file is not None and traceback.tb_frame.f_code not in _STEPS:
                found.append((traceback, file))
            traceback = traceback.tb_next
        return tuple(itertools.starmap(_make_frame, found))

    def _find_inputs(self, frame: FrameType, code: CodeInfo) -> dict[str, Any]:
        """The values of a running function's arguments, by path."""
        inputs = {}
        for name, value in argument_values(frame, code):
            for path, tensor in find_tensors(value, name) if isinstance(value, _SEARCHED) else ():
                if values := self.values_of(tensor):
                    inputs[path] = values[-1]
        return inputs

    def _code(self, frame: FrameType) -> CodeInfo:
        known = self._codes.get(id(frame.f_code))
        if known is not None:
            return known
        path, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
        is_model = is_model_code(path)
        if is_model:
            self.files.add(path)
        is_model = is_model or frame.f_code in _STEPS
        file = shorten_path(path, module) if is_model else None
        code = self._codes[id(frame.f_code)] = CodeInfo(
            frame.f_code,
            file,
            names=function_names(frame.f_code, module) if is_model else None,
            definition=f"{file}:{frame.f_code.co_firstlineno}",
            parameters=parameters_of(frame.f_code) if is_model else {},
            is_tracer=path.startswith(_TRACER) and frame.f_code is not self._boundary,
            ends_walk=is_model or frame.f_code in self._ends,
        )
        return code


def _make_frame(traceback: TracebackType, file: str) -> Frame:
    code = traceback.tb_frame.f_code
    line = traceback.tb_lineno
    return Frame(
        file=file,
        line=line,
        function=code.co_qualname,
        code=linecache.getline(code.co_filename, line).strip()[:200],
    )


def user_files(ran: set[str]) -> tuple[str, ...]:
    """The user's own files among the files that ran: absolute paths, sorted."""
    return tuple(sorted(file for file in ran if file.endswith(".py") and is_user_file(file)))
