"""Makes another function than a model's ``forward`` the one that a call of the model runs."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.values.traced_callables import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

__all__ = ["entered_by", "is_entered", "run_generator"]

_MARK = "is_entry"
_MAX_YIELDED = 1024


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
            return run_generator(function(*args, **kwargs))
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


def run_generator(result: Any) -> Any:
    """The items of a generator, which runs only while it is asked for them; any other result as it is."""
    return list(itertools.islice(result, _MAX_YIELDED)) if isinstance(result, Iterator) else result


def is_entered(model: Any) -> bool:
    """Whether `entered_by` has another function for a model."""
    return hasattr(vars(model).get("forward"), _MARK)
