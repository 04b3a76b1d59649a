"""From options to a model and its example inputs. Runs user code, so only the tracing process imports it.

`locate` finds the object a path names, `build` makes a model of it, `inputs` reads the author's example inputs, and
the other files fill in what the author did not say: see `rules` for which rule stands where. Everything filled in is an
`Assumption` in the graph, written as the author would have written it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.target.build import call_problem, variants
from modeldiagrams.target.given import find_inputs
from modeldiagrams.target.search import Tries
from modeldiagrams.target.usercode import loaded_sources, seeded
from modeldiagrams.tracer import trace_run
from modeldiagrams.tracer.hierarchy import hierarchy_run

if TYPE_CHECKING:
    from torch import nn

    from modeldiagrams.graph import Assumption
    from modeldiagrams.options import Options
    from modeldiagrams.target.build import Built
    from modeldiagrams.target.given import Given
    from modeldiagrams.tracer import Mode, Trace

__all__ = ["InputsError", "Target", "loaded_sources", "record", "resolve", "seeded"]

_FURTHER = 24
"""Tries with a variant of a model: inputs that fit are likely among those that came furthest in the first one."""


class InputsError(TargetError):
    """The model is there, but its example inputs could not be made."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A model, ready to be called."""

    model: nn.Module
    """In eval mode, so that dropout and batch statistics don't confuse the picture."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any]
    assumptions: tuple[Assumption, ...]
    """What the author did not say."""
    note: str | None = None
    """Why there are no inputs and what to write; then the module hierarchy is all there is to show."""
    tried: tuple[str, ...] = ()
    """What was tried to find inputs, one line each."""
    trace: Trace | None = None
    """The pass, if it was recorded when the inputs were found."""


def resolve(options: Options) -> Target:
    """Find or build the model and make its example inputs.

    Args:
        options: What the author wrote.

    Returns:
        The model in eval mode with inputs that are the same in every process.

    Raises:
        TargetError: if there is no such model or it can't be built.
        InputsError: if its inputs can't be made; a `TargetError` as well.
    """
    built, given, tried = _first_that_works(options)
    problem = None if given.note else call_problem(built.model.forward, given.args, given.kwargs)
    if problem:
        raise InputsError(f"{options.model}'s forward can't be called with these inputs: {problem}")
    return Target(
        model=built.model,
        args=given.args,
        kwargs=given.kwargs,
        assumptions=(*built.assumptions, *given.assumptions),
        note=given.note,
        tried=tuple(tried),
        trace=None if options.device else given.trace,  # that was on the CPU
    )


def _first_that_works(options: Options) -> tuple[Built, Given, list[str]]:
    """Model, inputs and what was tried: as it is by default, if no variant gets further."""
    first: tuple[Built, Given] | None = None
    tried: list[str] = []
    for built in variants(options):
        try:
            given = find_inputs(built, options, Tries(_FURTHER) if built.variant else Tries())
        except TargetError as error:
            raise InputsError(str(error), error.frames) from error
        tried += [f"{built.variant}: {line}" if built.variant else line for line in given.tried]
        if given.is_enough:
            return built, given, tried
        first = first or (built, given)
    if first is None:
        raise TargetError(f"{options.model} can't be made")
    return *first, tried


def record(target: Target, mode: Mode = "auto") -> Trace:
    """Trace one pass of a target, or take down its module hierarchy if nothing is known to call it with."""
    if target.note is not None:
        return hierarchy_run(target.model, (target.note,))
    if target.trace is not None and mode in ("auto", target.trace.graph.status.mode):
        return target.trace
    return trace_run(target.model, target.args, target.kwargs, mode=mode)
