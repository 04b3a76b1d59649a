"""A call of a torch function, before and after it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.tracer.torch_facts.nested_values import tensors_of
from modeldiagrams.tracer.torch_facts.private_api import memory_key, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from modeldiagrams.tracer.torch_facts.functions import Function
    from modeldiagrams.tracer.values.records import CallSite
    from modeldiagrams.tracer.values.scopes import Scope

__all__ = ["FunctionCall"]


class FunctionCall(msgspec.Struct, eq=False, gc=False):
    """A call of a torch function, as it looks before it runs."""

    function: Function
    site: CallSite
    args: Sequence[Any]
    kwargs: dict[str, Any]
    tensors: list[Tensor]
    """All tensors among the arguments."""
    scope: Scope | None
    """The function of user code that made the call."""
    versions: list[int | None] | None = None
    """The write counters of its tensors; None if the function writes none of them."""
    start: int = 0
    """Number of recorded steps; only for opaque functions."""

    def written(self) -> list[Tensor]:
        """The arguments that the call wrote, by their write counters, after it ran."""
        if self.versions is not None and self.versions != (now := versions_of(self.tensors)):
            changed = [t for t, before, after in zip(self.tensors, self.versions, now, strict=True) if before != after]
            return self._without_views(changed) if len(changed) > 1 else changed
        return tensors_of(self.args[0]) if self.function.writes_first and self.args else []

    def _without_views(self, changed: list[Tensor]) -> list[Tensor]:
        """Without tensors that changed only because they view what was written: `y` in ``x[0] = y``, a view of `x`."""
        targets = [self.args[0] if self.function.writes_first else None, self.kwargs.get("out")]
        written = set(map(id, tensors_of(targets)))
        memory = {memory_key(tensor) for tensor in changed if id(tensor) in written}
        return [tensor for tensor in changed if id(tensor) in written or memory_key(tensor) not in memory]
