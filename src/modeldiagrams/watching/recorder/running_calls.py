"""Tracks which module calls are running: ``conv``, ``conv#2``, numbered within one pass as in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from modeldiagrams.ir.ids import escape_id

if TYPE_CHECKING:
    from torch import nn

    from modeldiagrams.watching.recorder.names import Names

__all__ = ["CallTracker", "RunningCall"]


class RunningCall:
    """One running call of a module.

    Attributes:
        id: The id in the graph; None for a call that checkpointing repeats, until it is known which one that is.
    """

    __slots__ = ("has_gradient", "id", "module", "path")

    def __init__(self, module: nn.Module, path: str, id_: str | None) -> None:
        self.module, self.path, self.id = module, path, id_
        self.has_gradient = torch.is_grad_enabled()


class CallTracker:
    """Keeps the stack of module calls and numbers the calls of each module in a pass."""

    def __init__(self, names: Names, root: nn.Module) -> None:
        self._names, self._root = names, root
        self._numbers: dict[str, int] = {}
        self.stack: list[RunningCall] = []
        self._had_gradients = False
        """Whether a gradient arrived since the latest call; the next call then begins a new pass."""
        self._to_repeat: list[RunningCall] = []
        """Calls without gradients, which reentrant checkpointing will run again, the last segment first."""
        self._repeated: list[RunningCall] = []
        """Calls of the segment that is being repeated."""

    def enter(self, module: nn.Module, path: str) -> RunningCall:
        """Begin a call."""
        if torch._C._current_graph_task_id() != -1:  # noqa: SLF001
            call = RunningCall(module, path, None)
            self._repeated.append(call)
        else:
            self._begin_pass(module)
            number = self._numbers[path] = self._numbers.get(path, 0) + 1
            call = RunningCall(module, path, escape_id(path) if number == 1 else f"{escape_id(path)}#{number}")
            if not call.has_gradient:
                self._to_repeat.append(call)
        self.stack.append(call)
        return call

    def leave(self, module: nn.Module) -> RunningCall | None:
        """End a call, and calls inside it that raised and so never ended."""
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at].module is module:
                call = self.stack[at]
                del self.stack[at:]
                return call
        return None

    def identify_repeated(self) -> None:
        """Identify the repeated segment when a gradient arrives: by then, checkpointing has run all of it."""
        self._had_gradients = True
        repeated, self._repeated = self._repeated, []
        at = self._find([call.path for call in repeated]) if repeated else None
        if at is None:  # already measured on its first run
            return
        before = self._to_repeat[at : at + len(repeated)]
        for call, first in zip(repeated, before, strict=True):
            call.id = first.id
        self._to_repeat[at : at + len(repeated)] = [call for call in repeated if not call.has_gradient]

    def _begin_pass(self, module: nn.Module) -> None:
        """Begin a pass after a gradient, or when the model is called again: not every pass has gradients."""
        if self.stack or not (self._had_gradients or module is self._root):
            return
        self._had_gradients = False
        self._numbers.clear()
        self._to_repeat.clear()
        self._repeated.clear()

    def _find(self, paths: list[str]) -> int | None:
        """Return the index of the last sequence of calls with these paths."""
        for at in range(len(self._to_repeat) - len(paths), -1, -1):
            if [call.path for call in self._to_repeat[at : at + len(paths)]] == paths:
                return at
        return None
