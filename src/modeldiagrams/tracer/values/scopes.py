"""The Python functions and `torch.profiler.record_function` scopes in which the ops of a module call ran."""

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

    _CodeOf: TypeAlias = "Callable[[FrameType], CodeInfo]"
    _InputsOf: TypeAlias = "Callable[[FrameType, CodeInfo], Mapping[str, Any]]"

_NAMED_AFTER_CLASS = frozenset({"__call__", "__init__", "forward"})
"""Methods that are named after their class, because their own names say nothing."""
_PASSES_ALL_ON = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_DEEPEST = 100
"""Deeper calls belong to the function at this depth: nobody opens more boxes, and endless recursion fails soon."""
_READS_VARIABLES = frozenset({"dir", "eval", "exec", "locals", "vars"})
_STORES = ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")
"""Prefixes of instructions that assign or delete variables of a function."""
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
    """Set by `keep_scopes` if the graph shows the scope."""
    label: str = ""
    """The id without that of the module call, quoted, for signatures."""
    kept: Scope | None = None
    """Set by `keep_scopes`: the innermost scope that the graph shows, this one or an outer one."""
    depth: int = 1
    """Number of scopes, counting this one and all around it."""

    def around(self) -> Iterator[Scope]:
        """This scope and all around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(slots=True, eq=False)
class CodeInfo:
    """Facts about a function on the stack, cached because finding its lines is slow and every layer runs them."""

    code: CodeType
    """Kept alive to keep its id unique."""
    file: str | None
    """Relative file of user code; None for other code."""
    names: tuple[str, str] | None
    """Short and full name; None if it is not a function of user code."""
    definition: str
    """``file:line`` where it begins."""
    parameters: Mapping[str, int]
    """Parameters as returned by `parameters_of`."""
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
    """Short and full name of the function with this code; None for code that readers don't regard as a function.

    That is: lambdas, comprehensions, generators (they run piece by piece), and wrappers made by decorators.
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
    """Parameters of a function → the first instruction that assigns or deletes it.

    Includes ``*args`` and ``**kwargs``. Empty for a function that may hold the dict of its variables: until Python
    3.12, reading a frame's variables from outside writes into that dict.
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


def argument_values(frame: FrameType, code: CodeInfo) -> list[tuple[str, Any]]:
    """The arguments of a running function, as far as its parameters still hold them."""
    if not code.parameters:
        return []
    variables, last = frame.f_locals, frame.f_lasti
    found = [(n, variables[n]) for n, stored in code.parameters.items() if n in variables and stored >= last]
    if isinstance(variables, dict):  # until Python 3.12; it would keep the values alive as long as the function runs
        variables.clear()
    return found


class _Mark:
    """Marks a frame, as its trace function: an attribute that frames have for debuggers. Does nothing when called."""

    __slots__ = ()

    def __call__(self, *_: object) -> None:
        pass


_NOT_BEGUN = _Mark()


class Scopes(msgspec.Struct, eq=False):
    """The functions that are running inside the innermost module call of a thread.

    Each running frame gets a mark, because a new frame may get the address of a finished one, and holding frames would
    keep the variables of finished functions alive.
    """

    current: Scope | None = None
    """The innermost scope around the line that `SourceFinder.line_of` found last."""
    running: dict[Any, Scope | None] = {}
    """Mark of a frame → its scope, the innermost last. The outermost is the module's forward or a hook: no scope."""
    innermost: Any = _NOT_BEGUN
    """The last mark."""

    def begin(self, frame: FrameType, code_of: _CodeOf, inputs_of: _InputsOf) -> None:
        """Drop the functions that have ended, and begin the new ones around a frame of user code.

        Only needed if ``frame.f_trace`` is not the `innermost` mark.
        """
        running, around = self.running, frame.f_back
        if not running and around is not None and (outer := code_of(around)).ends_walk and outer.file is None:
            self.innermost = _mark(frame)  # a module's forward, as in most module calls
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
            self.innermost = _mark(inner)
            running[self.innermost] = scope
            caller = inner

    def _begun(self, frame: FrameType, code_of: _CodeOf) -> tuple[list[tuple[FrameType, CodeInfo]], FrameType | None]:
        """The functions that have begun since the last call, the innermost first, and the known frame around them."""
        begun: list[tuple[FrameType, CodeInfo]] = []
        outermost: tuple[FrameType, CodeInfo] | None = None
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
        """Begin a `record_function` in the current frame; None outside user code."""
        if not self.running:
            return None
        outer = self.running[self.innermost]
        scope = self.running[self.innermost] = Scope(name, outer, call_site=line, depth=_depth_inside(outer))
        return scope

    def exit(self, scope: Scope | None) -> None:
        """End a scope that `enter` began."""
        if scope is not None:
            self.running = {mark: scope.parent if held is scope else held for mark, held in self.running.items()}


def _depth_inside(scope: Scope | None) -> int:
    return scope.depth + 1 if scope else 1


def _mark(frame: FrameType) -> Any:
    """Mark a frame; return the mark, or the frame itself while a debugger or coverage runs."""
    if frame.f_trace is None and sys.gettrace() is None:
        frame.f_trace = _Mark()
    return _mark_of(frame)


def _mark_of(frame: FrameType | None) -> Any:
    mark = frame.f_trace if frame is not None else None
    return mark if type(mark) is _Mark else frame
