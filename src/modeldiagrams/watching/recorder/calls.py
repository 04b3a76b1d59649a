"""Which call of which module is running: ``conv``, ``conv#2``, numbered within one pass as in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from torch import Tensor, nn

    from modeldiagrams.watching.recorder.names import Names

__all__ = ["Call", "Calls"]


class Call(NamedTuple):
    """One call of a module."""

    module: nn.Module
    id: str
    is_repeated: bool = False
    """Whether activation checkpointing runs it again."""


class _WithoutGradient(NamedTuple):
    """A call that reentrant checkpointing will run again."""

    path: str
    id: str
    memory: int | None


class Calls:
    """The stack of module calls, and the numbers of those so far in the pass."""

    def __init__(self, names: Names, root: nn.Module) -> None:
        self._names, self._root = names, root
        self._numbers: dict[str, int] = {}
        self.stack: list[Call] = []
        self.had_gradients = False
        """Whether a gradient arrived since the latest call: the next one begins a new pass, or repeats one."""
        self._without_gradient: list[_WithoutGradient] = []
        self._repeating: int | None = None
        """Which of those calls was repeated last."""

    def enter(self, module: nn.Module, path: str, first_input: Tensor | None) -> Call | None:
        """Begin a call; None for one that checkpointing repeats though its first run was measured as a whole."""
        if torch._C._current_graph_task_id() != -1:  # noqa: SLF001
            repeated = self._repeated(path, first_input)
            call = Call(module, repeated or "", is_repeated=True)
            self.stack.append(call)
            return call if repeated is not None else None
        self._begin_pass(module)
        number = self._numbers[path] = self._numbers.get(path, 0) + 1
        call = Call(module, path if number == 1 else f"{path}#{number}")
        if not torch.is_grad_enabled():
            self._without_gradient.append(_WithoutGradient(path, call.id, _memory(first_input)))
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

    def _begin_pass(self, module: nn.Module) -> None:
        """A pass ends at the first gradient after it, or where the model is called anew; it need not be."""
        if self.stack or not (self.had_gradients or module is self._root):
            return
        self.had_gradients = False
        self._numbers.clear()
        self._without_gradient.clear()
        self._repeating = None

    def _repeated(self, path: str, first_input: Tensor | None) -> str | None:
        """Id of the call that reentrant checkpointing repeats. It repeats the last part first, each in order."""
        follows = None if self._repeating is None else self._repeating + 1
        if self.had_gradients or follows is None or not self._is(follows, path):
            follows = self._find(path, _memory(first_input))
        self.had_gradients = False
        self._repeating = follows
        return None if follows is None else self._without_gradient[follows].id

    def _is(self, at: int, path: str) -> bool:
        return at < len(self._without_gradient) and self._without_gradient[at].path == path

    def _find(self, path: str, memory: int | None) -> int | None:
        """The call with the same input, which checkpointing keeps; or else the last of this module."""
        own = [at for at, call in enumerate(self._without_gradient) if call.path == path]
        same = [at for at in own if memory is not None and self._without_gradient[at].memory == memory]
        return next(iter(same or own[::-1]), None)


def _memory(tensor: Tensor | None) -> int | None:
    try:
        return tensor.data_ptr() if tensor is not None else None
    except RuntimeError:  # a tensor without memory of its own
        return None
