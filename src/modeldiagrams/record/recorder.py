"""Sees every construction and every call of modules in a process, and keeps the best call of each class.

PyTorch doesn't define `nn.Module.__new__`: one there gets the constructor arguments as they were written. The method
`__call__` is replaced only in the classes that are recorded, so that all other modules run at full speed.
"""

from __future__ import annotations

import contextlib
import random
import sys
import zlib
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modeldiagrams.options.call import RecordedCall
from modeldiagrams.record.documented_names import wanted_classes
from modeldiagrams.record.run import Part, SeenCall
from modeldiagrams.record.writing import NotWritableError, dotted_path, note_arguments, write_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from modeldiagrams.record.run import RunSettings

__all__ = ["Recorder", "seed_random"]

_MOST_LOOKED_AT = 8
"""Calls of one class in one test: a layer may be called thousands of times."""
_OPEN_CALL = nn.Module._call_impl.__code__  # noqa: SLF001
"""Has a frame for each module call around."""


class _Watched:
    """A class that is recorded, and its best call so far."""

    def __init__(self, class_: type) -> None:
        self.best: SeenCall | None = None
        self.looked_at = 0
        """Calls in the current test."""
        self.method: Callable[..., Any] = class_.__call__
        """The hook."""
        self._class = class_
        self._own = vars(class_).get("__call__")

    def hook(self, test: int, rank: int) -> None:
        """Let calls in this test come here, if one of them may be the best."""
        self.looked_at, best = 0, self.best
        if best is None or best.problem or (best.call.rank, *best.key[:3]) > (rank, 0, False, test):
            self._class.__call__ = self.method  # type: ignore[method-assign]

    def unhook(self) -> None:
        """Let them run at full speed."""
        if self._own:
            self._class.__call__ = self._own  # type: ignore[method-assign]
        elif "__call__" in vars(self._class):
            del self._class.__call__

    def call(self, module: nn.Module) -> Callable[..., Any]:
        """The method without a hook; through `super`, because others replace `nn.Module.__call__`, too."""
        return self._own.__get__(module) if self._own else super(self._class, module).__call__  # type: ignore[arg-type, no-any-return]


class Recorder:
    """Records calls for the rest of the process."""

    def __init__(self, settings: RunSettings) -> None:
        """Begin."""
        self._is_wanted = wanted_classes(settings)
        self._snapshot = settings.snapshot
        self._place = ""
        """The test or script that runs; empty outside of tests."""
        self._test = 0
        self._rank = 0
        self._watched: dict[type, _Watched | None] = {}
        """None for a class that is not recorded."""
        self._undecided: set[type] = set()
        """Constructed outside of tests, perhaps while their packages were being imported."""
        nn.Module.__new__ = staticmethod(self._constructor())  # type: ignore[method-assign]

    @contextlib.contextmanager
    def running(self, place: str, number: int) -> Iterator[None]:
        """Record the calls of a test or a script.

        Args:
            place: The test's id, or the script's path.
            number: Of the test, in the order of all.
        """
        for class_ in self._undecided:
            self._decide(class_)
        self._undecided.clear()
        self._place, self._test, self._rank = place, number, RecordedCall(seen=place).rank
        for watched in filter(None, self._watched.values()):
            watched.hook(number, self._rank)
        seed_random(place)
        try:
            yield
        finally:
            self._place = ""

    def part(self, ran: set[str], root: str) -> Part:
        """What this process saw when it ran these tests, or a script, below a folder."""
        seen = {}
        for class_, watched in self._watched.items():
            with contextlib.suppress(NotWritableError):  # a class of a test, or inside of a function
                if watched and watched.best:
                    seen[dotted_path(class_)] = watched.best
        return Part(sorted(ran), seen, root)

    def _constructor(self) -> Callable[..., Any]:
        make = object.__new__

        def __new__(cls: type[nn.Module], *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            following = super(nn.Module, cls).__new__
            module = make(cls) if following is make else following(cls, *args, **kwargs)
            if sys._getframe(1).f_code.co_name != "__newobj__":  # noqa: SLF001  (a copy gets those of the original)
                note_arguments(module, args, kwargs)
            if cls not in self._watched:
                if self._place:
                    self._decide(cls)
                else:
                    self._undecided.add(cls)
            return module

        return __new__

    def _decide(self, class_: type) -> None:
        """Record a class from now on, or never."""
        with self._paused():  # to find out may import modules
            watched = self._watched[class_] = _Watched(class_) if self._is_wanted(class_) else None
        if watched:
            watched.method = self._method(class_, watched)
            watched.hook(self._test, self._rank)

    def _method(self, class_: type, watched: _Watched) -> Callable[..., Any]:
        is_compiling = torch.compiler.is_compiling

        def __call__(module: nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            call = watched.call(module)
            if is_compiling() or not self._place or type(module) is not class_:
                return call(*args, **kwargs)
            watched.looked_at += 1
            if watched.looked_at >= _MOST_LOOKED_AT:
                watched.unhook()
            seen = self._look(watched, module, args, kwargs)  # before it runs, which may change its inputs
            result = call(*args, **kwargs)
            if seen:  # a call that raises shows nothing
                watched.best = min(watched.best or seen, seen, key=lambda one: one.order)
            return result

        return __call__

    def _look(
        self, watched: _Watched, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> SeenCall | None:
        """A call as it can be kept; None if it is no better than what is known."""
        key, place = (_depth(), bool(module.training), self._test, watched.looked_at), self._place
        best = watched.best
        if best and not best.problem and (best.call.rank, *best.key) <= (self._rank, *key):
            return None
        with self._paused():
            try:
                return SeenCall(key, write_call(module, args, kwargs, place))
            except Exception as error:  # noqa: BLE001  (values of any class are asked about themselves)
                is_known = isinstance(error, NotWritableError)
                problem = str(error) if is_known else f"it can't be read: {type(error).__name__}: {error}"
            is_better = best is None or (bool(best.problem) and (self._rank, *key) < (best.call.rank, *best.key))
            graph = _traced(module, args, kwargs) if self._snapshot and is_better else ""
        return SeenCall(key, RecordedCall(seen=place), problem, graph)

    @contextlib.contextmanager
    def _paused(self) -> Iterator[None]:
        place, self._place = self._place, ""
        try:
            yield
        finally:
            self._place = place


def _depth() -> int:
    """How many module calls are around this one."""
    depth = 0
    frame: FrameType | None = sys._getframe(3)  # noqa: SLF001
    while frame is not None:
        depth += frame.f_code is _OPEN_CALL
        frame = frame.f_back
    return depth


def seed_random(place: str) -> None:
    """The same random numbers in every run, because the range of inputs is recorded."""
    seed = zlib.crc32(place.encode())
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed)


def _traced(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The graph of a call, as JSON; empty if it can't be traced."""
    from modeldiagrams.ir.serialize import serialize  # noqa: PLC0415
    from modeldiagrams.tracer import trace  # noqa: PLC0415  (slow to import)

    try:
        graph = trace(module, args, kwargs)
        return "" if graph.status.error else serialize(graph).decode()
    except Exception:  # noqa: BLE001  (the test of the project must not fail because of it)
        return ""
