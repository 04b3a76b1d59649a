"""Which call of which module is running: ``conv``, ``conv#2``, numbered within one pass as in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from modeldiagrams.ir.ids import escape_id

if TYPE_CHECKING:
    from torch import nn

    from modeldiagrams.watching.recorder.names import Names

__all__ = ["Call", "Calls"]


class Call:
    """One call of a module.

    Attributes:
        id: As in the graph; None for one that checkpointing repeats, as long as it isn't known which.
        is_repeated: Whether activation checkpointing runs it again.
    """

    __slots__ = ("has_gradient", "id", "is_repeated", "module", "path")

    def __init__(self, module: nn.Module, path: str, id_: str | None, *, is_repeated: bool = False) -> None:
        self.module, self.path, self.id, self.is_repeated = module, path, id_, is_repeated
        self.has_gradient = torch.is_grad_enabled()


class Calls:
    """The stack of module calls, and the numbers of those so far in the pass."""

    def __init__(self, names: Names, root: nn.Module) -> None:
        self._names, self._root = names, root
        self._numbers: dict[str, int] = {}
        self.stack: list[Call] = []
        self._had_gradients = False
        """Whether a gradient arrived since the latest call: the next one begins a new pass."""
        self._to_repeat: list[Call] = []
        """Calls without gradients, which reentrant checkpointing will run again: the last part first."""
        self._repeated: list[Call] = []
        """Calls of the part that is being repeated."""

    def enter(self, module: nn.Module, path: str) -> Call:
        """Begin a call."""
        if torch._C._current_graph_task_id() != -1:  # noqa: SLF001
            call = Call(module, path, None, is_repeated=True)
            self._repeated.append(call)
        else:
            self._begin_pass(module)
            number = self._numbers[path] = self._numbers.get(path, 0) + 1
            call = Call(module, path, escape_id(path) if number == 1 else f"{escape_id(path)}#{number}")
            if not call.has_gradient:
                self._to_repeat.append(call)
        self.stack.append(call)
        return call

    def leave(self, module: nn.Module) -> Call | None:
        """End a call, and those inside that raised and never got here."""
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at].module is module:
                call = self.stack[at]
                del self.stack[at:]
                return call
        return None

    def gradient_arrived(self) -> None:
        """A part that is repeated is so as a whole, before any gradient arrives in it: tell which part it is."""
        self._had_gradients = True
        repeated, self._repeated = self._repeated, []
        at = self._find([call.path for call in repeated]) if repeated else None
        if at is None:  # it was measured when it ran first
            return
        before = self._to_repeat[at : at + len(repeated)]
        for call, first in zip(repeated, before, strict=True):
            call.id = first.id
        self._to_repeat[at : at + len(repeated)] = [call for call in repeated if not call.has_gradient]

    def _begin_pass(self, module: nn.Module) -> None:
        """A pass ends at the first gradient after it, or where the model is called anew; it need not be."""
        if self.stack or not (self._had_gradients or module is self._root):
            return
        self._had_gradients = False
        self._numbers.clear()
        self._to_repeat.clear()
        self._repeated.clear()

    def _find(self, paths: list[str]) -> int | None:
        """Where the last such calls begin."""
        for at in range(len(self._to_repeat) - len(paths), -1, -1):
            if [call.path for call in self._to_repeat[at : at + len(paths)]] == paths:
                return at
        return None
