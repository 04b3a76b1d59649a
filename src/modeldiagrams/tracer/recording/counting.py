"""Running one call as one op, and counting its floating point operations."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.torch_facts.flops import FREE
from modeldiagrams.tracer.torch_facts.private_api import pop_dispatch_mode, push_dispatch_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    if counter is not None and formula is not None and formula.fits(args, kwargs) and _stepped_aside(counter):
        context.observed += 1
        try:
            result = run(*args, **kwargs)
        finally:
            push_dispatch_mode(counter)
            context.observed -= 1
        return result, None if formula is FREE else formula.flops(args, kwargs, result)
    outer, context.flops = context.flops, None
    context.observed += 1
    try:
        return run(*args, **kwargs), context.flops
    finally:
        context.observed -= 1
        context.flops = outer


@contextlib.contextmanager
def counter_aside(counter: Any) -> Iterator[None]:
    """Without the counter, unless the model has entered another mode inside of it."""
    is_aside = counter is not None and _stepped_aside(counter)
    try:
        yield
    finally:
        if is_aside:
            push_dispatch_mode(counter)


def _stepped_aside(counter: Any) -> bool:
    """Take the counter from the stack of modes, if it is the innermost."""
    try:
        mode = pop_dispatch_mode(None)
    except RuntimeError:  # no mode is there
        return False
    if mode is not counter:  # the model has entered another one
        push_dispatch_mode(mode)
    return mode is counter
