"""Running one call as one op, and counting its floating point operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.autograd import forward_ad

from modeldiagrams.tracer.torch_facts.private_api import (
    n_dispatch_modes,
    pop_dispatch_mode,
    push_dispatch_mode,
    wraps_now,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modeldiagrams.tracer.recording.thread_context import ThreadContext
    from modeldiagrams.tracer.torch_facts.flops import CallFormula


def run_counted(  # noqa: PLR0913, PLR0917 - called for every op, and keywords take time
    context: ThreadContext,
    counter: Any,
    run: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    formula: CallFormula | None,
) -> tuple[Any, int | None]:
    """Run a call; return its result and its FLOPs: by formula, or as the counter counts the operators inside.

    The counter is a dispatch mode, or None where costs are not wanted. It makes most operators several times as slow,
    so it steps aside where a formula holds.
    """
    outer, context.flops = context.flops, None
    context.observed += 1
    mode = None
    if (
        counter is not None
        and formula is not None
        and formula.fits(args, kwargs)
        and _runs_as_written()
        and n_dispatch_modes()
    ):
        mode = pop_dispatch_mode(None)
        if mode is not counter:  # the model has entered another one
            push_dispatch_mode(mode)
            mode = None
    try:
        result = run(*args, **kwargs)
        return result, context.flops if mode is None else formula.flops(args, kwargs, result)  # type: ignore[union-attr]
    finally:
        if mode is not None:
            push_dispatch_mode(mode)
        context.observed -= 1
        context.flops = outer


def _runs_as_written() -> bool:
    """Whether torch runs operators on the shapes that Python sees: no vmap, and no derivatives on the way forward."""
    return wraps_now() is None and forward_ad._current_level < 0  # noqa: SLF001 - nothing else tells
