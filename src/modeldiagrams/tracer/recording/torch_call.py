"""One call of a torch function, and which tensors it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.tracer.torch_facts.nested_values import tensors_of
from modeldiagrams.tracer.torch_facts.private_api import memory_key, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from modeldiagrams.tracer.torch_facts.functions import Function
    from modeldiagrams.tracer.values.pass_records import CallSite
    from modeldiagrams.tracer.values.scopes import Scope

__all__ = ["TorchCall"]


class TorchCall(msgspec.Struct, eq=False, gc=False):
    """A call of a torch function, as it was before it ran."""

    function: Function
    site: CallSite
    args: Sequence[Any]
    kwargs: dict[str, Any]
    tensors: list[Tensor]
    """All tensors among the arguments."""
    scope: Scope | None
    """The function of user code that made the call."""
    versions: list[int | None] | None = None
    """The write counters of its tensors; None if the function can't write them."""

    def written(self) -> list[Tensor]:
        """The arguments that the call wrote, by their write counters; to be asked after it ran."""
        if self.versions is not None and self.versions != (now := versions_of(self.tensors)):
            changed = [t for t, before, after in zip(self.tensors, self.versions, now, strict=True) if before != after]
            return self._without_views(changed) if len(changed) > 1 else changed
        return tensors_of(self.args[0]) if self.function.writes_first and self.args else []

    def _without_views(self, changed: list[Tensor]) -> list[Tensor]:
        """Leave out tensors that changed only because they view written memory: `y` in ``x[0] = y``, a view of `x`."""
        targets = [self.args[0] if self.function.writes_first else None, self.kwargs.get("out")]
        written = set(map(id, tensors_of(targets)))
        memory = {memory_key(tensor) for tensor in changed if id(tensor) in written}
        return [tensor for tensor in changed if id(tensor) in written or memory_key(tensor) not in memory]
