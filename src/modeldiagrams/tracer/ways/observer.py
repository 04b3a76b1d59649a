"""Notes which code of the model's functions runs, without disturbing debuggers and coverage. Imports no torch.

From Python 3.12 on, `sys.monitoring` reports each instruction once. Python 3.11's trace function reports lines, and the
instructions of lines that are in several sides of a branch. It slows down all code, so whoever runs much that is not
the model's, as the tracer and PyTorch do, pauses `TraceObserver` meanwhile.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

from modeldiagrams.common.user_files import is_model_code
from modeldiagrams.tracer.ways.syntax import end_of, lines_of, start_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType

    from modeldiagrams.tracer.ways.syntax import CodeBranch, Option

    Span: TypeAlias = "tuple[tuple[int, int], tuple[int, int]]"
    FindBranches: TypeAlias = Callable[[CodeType], Sequence[CodeBranch]]
    OnReach: TypeAlias = Callable[[CodeBranch, FrameType], Sequence[Option]]

_MONITORS = range(6)
"""The ids of tools of `sys.monitoring`."""
_TOOL = 4
"""The id of ours: one that Python does not give to debuggers, coverage, profilers or optimisers."""


class Observer:
    """Notes which code ran: a base for the two mechanisms."""

    is_refused = False
    """Whether another tool came first, after `make_observer`."""

    def __init__(self, find_branches: FindBranches, on_reach: OnReach, running_in: Callable[[], Any]) -> None:
        """Observe functions.

        Args:
            find_branches: Returns the branches to observe in a function; none if it is not to be observed.
            on_reach: Called once for each branch, before its condition is computed for the first time; returns the
                sides of interest.
            running_in: Returns what the functions that run now belong to: for `owners`.
        """
        self._find_branches = find_branches
        self._on_reach = on_reach
        self._running_in = running_in
        self._codes: dict[int, tuple[CodeType, Watched | None]] = {}
        """By ``id`` of the code object, whose hash Python would recompute each time."""

    @property
    def watched(self) -> list[Watched]:
        """The functions with branches that ran."""
        return [watched for _, watched in self._codes.values() if watched is not None]

    def _find(self, code: CodeType) -> Watched | None:
        known = self._codes.get(id(code))
        if known is None:
            branches = self._find_branches(code)
            known = self._codes[id(code)] = code, Watched(code, branches) if branches else None
        return known[1]

    def _reach_at(self, watched: Watched, span: Span | None, frame: FrameType) -> None:
        """Reach the branches whose condition contains an instruction."""
        if span is None:
            return
        for branch in watched.tests.get(span[0][0], ()):
            if branch in watched.waiting and start_of(branch.test) <= span[0] and span[1] <= end_of(branch.test):
                self._reach(watched, branch, frame)

    def _reach(self, watched: Watched, branch: CodeBranch, frame: FrameType) -> None:
        watched.waiting.remove(branch)
        watched.reached.append(branch)
        watched.open += self._on_reach(branch, frame)


class Watched:
    """What ran of a function with branches."""

    def __init__(self, code: CodeType, branches: Sequence[CodeBranch]) -> None:
        self.code = code
        self.waiting = [*branches]
        self.reached: list[CodeBranch] = []
        self.open: list[Option] = []
        """Sides of interest that have not run, as far as `is_settled` has looked."""
        self._looked_at = 0
        self.owners: set[Any] = set()
        self.lines: set[int] = set()
        self.instructions: set[int] = set()
        self.counts: dict[ast.AST, int] = {
            part: 0
            for branch in branches
            for option in branch.options
            if option.unless is not None
            for part in (option.unless.test, option.unless.body[0])
        }
        """How often parts of the code were reached."""
        self._entries: dict[int, ast.AST] = {}
        """The first instruction of each of them."""
        self.exact_lines = frozenset[int]().union(*(branch.exact_lines for branch in branches))
        self.tests: dict[int, list[CodeBranch]] = defaultdict(list)
        """Line → the branches whose condition is on it."""
        for branch in branches:
            for line in lines_of([branch.test]):
                self.tests[line].append(branch)

    @functools.cached_property
    def _spans(self) -> list[Span | None]:
        return [
            None if None in place else ((place[0], place[2]), (place[1], place[3]))  # type: ignore[misc]
            for place in self.code.co_positions()
        ]

    def span(self, instruction: int) -> Span | None:
        """The piece of code of an instruction."""
        return self._spans[instruction // 2]

    def count(self, instruction: int) -> bool:
        """Count an instruction, if it begins a part of the code that is counted."""
        if self.counts and instruction not in self.instructions and (span := self.span(instruction)) is not None:
            for part in self.counts.keys() - self._entries.values():
                if start_of(part) <= span[0] and span[1] <= end_of(part):
                    self._entries[instruction] = part
        if (entered := self._entries.get(instruction)) is None:
            return False
        self.counts[entered] += 1
        return True

    def ran(self, option: Option) -> bool:
        """Whether any code of a side ran."""
        if option.unless is not None:
            return self.counts[option.unless.test] > self.counts[option.unless.body[0]]
        if not self.lines.isdisjoint(lines_of(option.nodes) - self.exact_lines):
            return True
        return any(span is not None and option.covers(*span) for span in map(self.span, self.instructions))

    def is_settled(self) -> bool:
        """Whether nothing is left to see."""
        seen = len(self.lines) + len(self.instructions) + sum(self.counts.values())
        if self.open and seen != self._looked_at:
            self._looked_at = seen
            self.open = [option for option in self.open if not self.ran(option)]
        return not self.waiting and not self.open


if sys.version_info >= (3, 12):
    monitoring = sys.monitoring
else:
    monitoring: Any = None


class MonitoringObserver(Observer):
    """Uses `sys.monitoring`."""

    @contextlib.contextmanager
    def observing(self) -> Iterator[None]:
        """Observe in the block."""
        events = monitoring.events
        try:
            monitoring.use_tool_id(_TOOL, "modeldiagrams")
        except ValueError:  # the trace of another thread took it
            self.is_refused = True
            yield
            return
        monitoring.restart_events()
        monitoring.register_callback(_TOOL, events.PY_START, self._on_start)
        monitoring.register_callback(_TOOL, events.INSTRUCTION, self._on_instruction)
        monitoring.set_events(_TOOL, events.PY_START)
        try:
            yield
        finally:
            monitoring.set_events(_TOOL, 0)
            for watched in self.watched:
                monitoring.set_local_events(_TOOL, watched.code, 0)
            for event in (events.PY_START, events.INSTRUCTION):
                monitoring.register_callback(_TOOL, event, None)
            monitoring.free_tool_id(_TOOL)

    def _on_start(self, code: CodeType, _: int) -> Any:
        is_new = id(code) not in self._codes
        watched = self._find(code)
        if watched is None:
            return monitoring.DISABLE
        if is_new:
            monitoring.set_local_events(_TOOL, code, monitoring.events.INSTRUCTION)
        watched.owners.add(self._running_in())
        return None

    def _on_instruction(self, code: CodeType, offset: int) -> Any:
        known = self._codes.get(id(code))
        watched = known[1] if known is not None else None
        is_counted = False
        if watched is not None:
            is_counted = watched.count(offset)
            if offset not in watched.instructions:
                watched.instructions.add(offset)
                self._reach_at(watched, watched.span(offset), sys._getframe(1))  # noqa: SLF001
        return None if is_counted else monitoring.DISABLE


_CALL, _LINE, _RETURN, _INSTRUCTION = 0, 2, 3, 7
"""``PyTrace_CALL``, ``PyTrace_LINE``, ``PyTrace_RETURN`` and ``PyTrace_OPCODE`` of Python's C interface."""
_TRACE_FUNCTION = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.py_object, ctypes.c_int, ctypes.c_void_p)


def ignore_event(*_: object) -> None:
    """What `sys.gettrace` returns meanwhile: code that sets it again with `sys.settrace` ends the observation."""


_SET_TRACE = ctypes.pythonapi["PyEval_SetTrace"]
_SET_TRACE.restype = None
_SHOWN = ctypes.py_object(ignore_event)


class TraceObserver(Observer):
    """Uses the trace function of the interpreter.

    Not through `sys.settrace`, which writes the variables of every function that is called into a dict, where they live
    as long as the function runs. A pause is ``sys.settrace(None)``, ended by ``watch.resume(*watch.resumed)``: unlike a
    call of a Python function, neither is an event. The model's code may set a trace function of its own, as debuggers
    do: whoever pauses, resumes or ends asks `sys.gettrace` before.
    """

    resume = staticmethod(_SET_TRACE)

    def __init__(self, *arguments: Any) -> None:
        """As `Observer`."""
        super().__init__(*arguments)
        self.resumed = _TRACE_FUNCTION(self._on_event), _SHOWN
        self.pending: BaseException | None = None
        """An exception raised during an event, as by a signal: there, it would be lost."""

    @contextlib.contextmanager
    def observing(self) -> Iterator[None]:
        """Observe in the block."""
        self.resume(*self.resumed)
        try:
            yield
        finally:
            if sys.gettrace() is ignore_event:
                sys.settrace(None)

    def begin(self, function: Callable[..., Any]) -> None:
        """Observe a function of a module that is about to run, unless it is torch's own."""
        code = getattr(function, "__code__", None)
        if sys.gettrace() is None and (code is None or code.co_name != "forward" or is_model_code(code.co_filename)):
            self.resume(*self.resumed)

    def raise_pending(self) -> None:
        """Raise what was raised during an event."""
        error, self.pending = self.pending, None
        if error is not None:
            raise error

    def _on_event(self, _: Any, frame: FrameType, event: int, __: Any) -> int:
        if event == _RETURN:
            return 0
        try:
            known = self._codes.get(id(frame.f_code))
            watched = self._find(frame.f_code) if known is None else known[1]
            if watched is None or (event == _CALL and watched.is_settled()):
                frame.f_trace_lines = False  # it may have been called during a pause
            elif event == _CALL:
                watched.owners.add(self._running_in())
            else:
                self._on_code(watched, frame, event)
        except BaseException as error:  # noqa: BLE001
            self.pending = error
        return 0

    def _on_code(self, watched: Watched, frame: FrameType, event: int) -> None:
        if event == _LINE:
            line = frame.f_lineno
            if line in watched.exact_lines:
                frame.f_trace_opcodes = True
                watched.lines.add(line)
                return
            if frame.f_trace_opcodes:
                frame.f_trace_opcodes = False
            if line in watched.lines:
                return
            watched.lines.add(line)
            for branch in watched.tests.get(line, ()):
                if branch in watched.waiting:
                    self._reach(watched, branch, frame)
        elif event == _INSTRUCTION:
            watched.count(frame.f_lasti)
            if frame.f_lasti not in watched.instructions:
                watched.instructions.add(frame.f_lasti)
                self._reach_at(watched, watched.span(frame.f_lasti), frame)


def make_observer(*arguments: Any) -> MonitoringObserver | TraceObserver | None:
    """Make an `Observer`; None if another tool traces Python code, which would not work beside one."""
    if sys.gettrace() is not None:
        return None
    if sys.version_info < (3, 12):
        return TraceObserver(*arguments)
    if any(monitoring.get_tool(tool) for tool in _MONITORS):
        return None
    return MonitoringObserver(*arguments)
