"""From options to a model and its example inputs. Runs user code, so only the tracing process imports it.

`locate` finds the object a path names, `build` makes a model of it, `inputs` reads the author's example inputs, and
`rules` fills in what the author did not say; everything filled in is an `Assumption` in the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.target.build import make_model
from modeldiagrams.target.inputs import make_inputs
from modeldiagrams.target.usercode import loaded_sources, seeded

if TYPE_CHECKING:
    from torch import nn

    from modeldiagrams.graph import Assumption
    from modeldiagrams.options import Options

__all__ = ["InputsError", "Target", "loaded_sources", "resolve", "seeded"]


class InputsError(TargetError):
    """The model is there, but its example inputs could not be made."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A model, ready to be called."""

    model: nn.Module
    """In eval mode, so that dropout and batch statistics don't confuse the picture."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    assumptions: tuple[Assumption, ...]
    """What the author did not say."""


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
    model, assumed = make_model(options)
    try:
        args, kwargs, filled_in = make_inputs(model, options)
    except TargetError as error:
        raise InputsError(str(error), error.frames) from error
    return Target(model=model, args=args, kwargs=kwargs, assumptions=(*assumed, *filled_in))
