"""Which Python functions the ops of a module call ran in, and which `torch.profiler.record_function` scopes."""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import CodeType, FrameType
    from typing import TypeAlias

    _CodeOf: TypeAlias = "Callable[[FrameType], Code]"
    _InputsOf: TypeAlias = "Callable[[FrameType, Code], Mapping[str, Any]]"

_NAMED_AFTER_CLASS = frozenset({"__call__", "__init__", "forward"})
"""Methods whose name says nothing."""
_PASSES_ALL_ON = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_DEEPEST = 100
"""What is called deeper belongs to the function there: readers open no more boxes, and endless recursion fails soon."""
_READS_VARIABLES = frozenset({"dir", "eval", "exec", "locals", "vars"})
_STORES = ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")
"""Names of instructions that assign or delete variables of a function begin so."""
_IS_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Scope(msgspec.Struct, eq=False):
    """One call of a Python function, or one `record_function`, inside a module call."""

    name: str
    """Short name for readers."""
    parent: Scope | None
    function: str | None = None
    """Full name of the function; None for a `record_function`."""
    source: str | None = None
    """``file:line`` of the function's definition."""
    call_site: str | None = None
    """``file:line`` of the call."""
    inputs: Mapping[str, Any] = {}
    """Path of each tensor in its arguments (``q``, ``states[0]``) → its `Value`, as in `ModuleCall`."""
    id: str = ""
    """Set by `keep_scopes` for those that the graph shows."""
    label: str = ""
    """The same without the id of the module call, quoted, for signatures."""
    kept: Scope | None = None
    """Set by `keep_scopes`: the innermost scope that the graph shows, this one or one around it."""
    depth: int = 1
    """How many scopes there are with all around it."""

    def around(self) -> Iterator[Scope]:
        """The scope itself and all around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(slots=True, eq=False)
class Code:
    """A function on the stack. Cached because models run the same lines in every layer and counting lines is slow."""

    code: CodeType
    """Kept alive, so that its id stays unique."""
    file: str | None
    """Relative file of user code; None for other code."""
    names: tuple[str, str] | None
    """Short and full name; None for what is no function of user code."""
    definition: str
    """``file:line`` where it begins."""
    parameters: Mapping[str, int]
    """As `parameters_of` says, with those of ``*args`` and ``**kwargs``."""
    is_tracer: bool
    """Part of the tracer, inside the boundary."""
    ends_walk: bool
    """User code, the boundary or a module call."""
    lines: dict[int, str] = field(default_factory=dict)
    """``file:line`` by instruction."""

    def line(self, frame: FrameType) -> str:
        """``file:line`` of the running instruction."""
        at = frame.f_lasti
        line = self.lines.get(at)
        if line is None:
            line = self.lines[at] = f"{self.file}:{frame.f_lineno}"
        return line


def function_names(code: CodeType, module: str) -> tuple[str, str] | None:
    """Short and full name of the function with this code; None for code that readers don't take for a function.

    Such are lambdas and comprehensions, generators, which run bit by bit, and decorators' wrappers.
    """
    name, qualified = code.co_name, code.co_qualname
    is_wrapper = code.co_flags & _PASSES_ALL_ON == _PASSES_ALL_ON and (code.co_freevars or name == "__call__")
    if name.startswith("<") or is_wrapper or code.co_flags & _IS_RESUMED:
        return None
    class_ = qualified.rpartition(".")[0].rpartition(".")[2]
    short = class_ if name in _NAMED_AFTER_CLASS and class_ not in {"", "<locals>"} else name
    return short, f"{module}.{qualified.replace('.<locals>', '')}"


@functools.lru_cache(maxsize=4096)  # takes as long as recording 20 ops
def parameters_of(code: CodeType) -> Mapping[str, int]:
    """Parameters of a function, and the first instruction that assigns or deletes each.

    None of a function that may hold the dict of its variables: to look at a frame's variables from outside writes into
    that dict, until Python 3.12.
    """
    if not _READS_VARIABLES.isdisjoint(code.co_names):
        return {}
    n = code.co_argcount + code.co_kwonlyargcount
    n += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    found = dict.fromkeys(code.co_varnames[:n], sys.maxsize)
    for step in dis.get_instructions(code):
        if step.opname.startswith(_STORES):
            names = step.argval if isinstance(step.argval, tuple) else (step.argval,)  # two, from Python 3.13 on
            for name in names[:1] if step.opname.endswith("LOAD_FAST") else names:
                if name in found:
                    found[name] = min(found[name], step.offset)
    return found


def argument_values(frame: FrameType, code: Code) -> list[tuple[str, Any]]:
    """What a running function was called with, as far as its parameters still hold it."""
    if not code.parameters:
        return []
    variables, last = frame.f_locals, frame.f_lasti
    found = [(n, variables[n]) for n, stored in code.parameters.items() if n in variables and stored >= last]
    if isinstance(variables, dict):  # until Python 3.12, and would keep the values as long as the function runs
        variables.clear()
    return found


class _Mark:
    """In the place of a frame's own trace function, which frames have for debuggers; does nothing as one."""

    __slots__ = ()

    def __call__(self, *_: object) -> None:
        pass


_NOT_BEGUN = _Mark()


class Scopes(msgspec.Struct, eq=False):
    """The functions that are running inside the innermost module call of a thread.

    A new frame may get the address of a finished one, so each running one gets a mark. Frames that are held would keep
    the variables of finished functions alive.
    """

    current: Scope | None = None
    """The innermost scope around the line that `SourceFinder.line_of` found last."""
    running: dict[Any, Scope | None] = {}
    """By mark, the innermost last. The outermost is the module's own forward, or a hook, and no scope."""
    innermost: Any = _NOT_BEGUN
    """The last mark."""

    def begin(self, frame: FrameType, code_of: _CodeOf, inputs_of: _InputsOf) -> None:
        """Drop the functions that have ended, and begin those that are new around a frame of user code.

        Needed only where ``frame.f_trace`` is not the `innermost` mark.
        """
        running, around = self.running, frame.f_back
        if not running and around is not None and (outer := code_of(around)).ends_walk and outer.file is None:
            self.innermost = _marked(frame)  # a module's forward, as in most module calls
            running[self.innermost] = None
            return
        begun, caller = self._begun(frame, code_of)
        self.innermost = _mark_of(caller)
        while running and next(reversed(running)) is not self.innermost:
            running.popitem()
        for inner, code in reversed(begun):
            scope = None if caller is None else running[self.innermost]
            if caller is not None and (scope is None or scope.depth < _DEEPEST):
                short, full = code.names or ("", "")
                line, inputs = code_of(caller).line(caller), inputs_of(inner, code)
                scope = Scope(short, scope, full, code.definition, line, inputs, depth=_depth_inside(scope))
            self.innermost = _marked(inner)
            running[self.innermost] = scope
            caller = inner

    def _begun(self, frame: FrameType, code_of: _CodeOf) -> tuple[list[tuple[FrameType, Code]], FrameType | None]:
        """The functions that were not known to run, the innermost first, and the frame around them that was."""
        begun: list[tuple[FrameType, Code]] = []
        outermost: tuple[FrameType, Code] | None = None
        at: FrameType | None = frame
        while at is not None and _mark_of(at) not in self.running:
            code = code_of(at)
            if code.file is not None:
                outermost = (at, code)
                if code.names is not None:
                    begun.append(outermost)
            elif code.ends_walk:
                at = None
                break
            at = at.f_back
        if at is None and outermost is not None and begun[-1:] != [outermost]:  # a lambda may be a model
            begun.append(outermost)
        return begun, at

    def enter(self, name: str, line: str | None) -> Scope | None:
        """Begin a `record_function` in the frame that was last moved to; None outside of user code."""
        if not self.running:
            return None
        outer = self.running[self.innermost]
        scope = self.running[self.innermost] = Scope(name, outer, call_site=line, depth=_depth_inside(outer))
        return scope

    def exit(self, scope: Scope | None) -> None:
        """End what `enter` began."""
        if scope is not None:
            self.running = {mark: scope.parent if held is scope else held for mark, held in self.running.items()}


def _depth_inside(scope: Scope | None) -> int:
    return scope.depth + 1 if scope else 1


def _marked(frame: FrameType) -> Any:
    """A mark that only this frame has; the frame itself while a debugger or a measurement of coverage runs."""
    if frame.f_trace is None and sys.gettrace() is None:
        frame.f_trace = _Mark()
    return _mark_of(frame)


def _mark_of(frame: FrameType | None) -> Any:
    mark = frame.f_trace if frame is not None else None
    return mark if type(mark) is _Mark else frame
