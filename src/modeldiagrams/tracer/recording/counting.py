"""Runs one call as one op and counts its floating point operations."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.torch_facts.flops import FREE
from modeldiagrams.tracer.torch_facts.private_api import (
    PLAIN_TENSORS,
    n_dispatch_modes,
    pop_dispatch_mode,
    push_dispatch_mode,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.tracer.recording.thread_context import ThreadContext
    from modeldiagrams.tracer.torch_facts.flops import CallFormula


def run_and_count(  # noqa: PLR0913, PLR0917 - called for every op, and keywords take time
    context: ThreadContext,
    counter: Any,
    run: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    formula: CallFormula | None,
) -> tuple[Any, int | None]:
    """Run a call; return its result and its FLOPs, by formula or as the counter adds up the operators inside.

    The counter is a dispatch mode, or None if costs are not wanted. It makes most operators several times slower, so
    it is suspended where a formula holds.
    """
    if counter is None or formula is None or not n_dispatch_modes():
        return _run_beneath(context, run, args, kwargs)
    if formula is FREE and args and type(args[0]) in PLAIN_TENSORS:  # the usual case of `given`
        given: Sequence[Any] | None = ()
    else:
        given = formula.given(args, kwargs)
    if given is None:
        return _run_beneath(context, run, args, kwargs)
    mode = pop_dispatch_mode(None)
    if mode is not counter:  # the model has entered another one
        push_dispatch_mode(mode)
        return _run_beneath(context, run, args, kwargs)
    context.observed += 1
    try:
        result = run(*args, **kwargs)
        return result, None if formula is FREE else formula.flops(given, result)
    finally:
        push_dispatch_mode(mode)
        context.observed -= 1


def _run_beneath(
    context: ThreadContext, run: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, int | None]:
    """Run a call with all modes active, including the counter."""
    outer, context.flops = context.flops, None
    context.observed += 1
    try:
        return run(*args, **kwargs), context.flops
    finally:
        context.observed -= 1
        context.flops = outer


@contextlib.contextmanager
def suspend_counter(counter: Any) -> Iterator[None]:
    """Suspend the counter, unless the model has entered another mode inside it."""
    mode = pop_dispatch_mode(None) if counter is not None and n_dispatch_modes() else None
    if mode is not None and mode is not counter:
        push_dispatch_mode(mode)
        mode = None
    try:
        yield
    finally:
        if mode is not None:
            push_dispatch_mode(mode)
