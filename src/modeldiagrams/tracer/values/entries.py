"""Makes another function than a model's ``forward`` the one that a call of the model runs."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.values.traced_callables import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

__all__ = ["entered_by", "is_entered"]

_MARK = "is_entry"


@contextlib.contextmanager
def entered_by(model: nn.Module, function: Callable[..., Any] | None) -> Iterator[None]:
    """Let a call of a model run a function for a while, with the signature of the function.

    Inside the function, calls of the model run its own ``forward``, without being a module call of their own: what
    ``self(x)`` does in a ``training_step`` is what ``forward`` does if it is called directly.

    Args:
        model: The model.
        function: The function; None for ``forward``.
    """
    if function is None:
        yield
        return
    model = unwrap(model, (), {})[0]  # a trace looks into what `torch.compile` wrapped
    before = vars(model).get("forward")
    own = model.forward
    is_running = False

    @functools.wraps(function)
    def entry(*args: Any, **kwargs: Any) -> Any:
        nonlocal is_running
        if is_running:
            return own(*args, **kwargs)
        is_running = True
        try:
            return function(*args, **kwargs)
        finally:
            is_running = False

    setattr(entry, _MARK, True)
    vars(model)["forward"] = entry
    try:
        yield
    finally:
        del vars(model)["forward"]
        if before is not None:
            vars(model)["forward"] = before


def is_entered(model: Any) -> bool:
    """Whether `entered_by` has another function for a model."""
    return hasattr(vars(model).get("forward"), _MARK)
