"""The ways to run a model, and the order in which they are tried."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import torch
from torch import nn

from modeldiagrams.ir.graph import OWN_FAILURE
from modeldiagrams.tracer.fake.conversion import NoFakeError

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Failure

__all__ = ["Attempt", "Mode", "attempts_left", "attempts_of", "is_on_meta", "notes_on"]

_ABOUT_GRADIENTS = re.compile("grad|differentia|derivative|leaf|leaves|backward|multiple views", re.IGNORECASE)
"""Messages of errors that only occur if gradients are on: ``out=``, writes in place, `Tensor.numpy`."""

Mode: TypeAlias = Literal["auto", "fake", "meta", "real"]


@dataclass(frozen=True)
class Attempt:
    """One way of running."""

    mode: Literal["fake", "meta", "real"]
    concrete: bool = False
    """Whether values of small tensors are computed, and unknown values guessed."""
    has_gradients: bool = True
    """Whether gradients are on, unless the caller has turned them off."""
    assumes_fewer: bool = False
    """Whether other sizes are assumed, to see what depends on assumed ones."""
    assumes_unlike: bool = False
    """Whether these differ from each other, too."""
    knows_inputs: bool = True
    """Whether the values of inputs are used, or unknown as well."""


def attempts_of(model: Any, mode: Mode, *, real_first: bool) -> list[Attempt]:
    """The ways of running to try, in order."""
    ways = {"fake": Attempt("fake", concrete=True), "real": Attempt("real")}
    if mode == "meta":
        return [Attempt("meta"), Attempt("meta", concrete=True)]
    if mode == "auto" and is_on_meta(model):
        return [Attempt("meta"), ways["fake"]]
    order = ("real", "fake") if real_first else ("fake", "real")
    return [ways[name] for name in order] if mode == "auto" else [ways[mode]]


def is_on_meta(model: Any) -> bool:
    """Whether a model has no memory for its weights."""
    return isinstance(model, nn.Module) and any(p.is_meta for p in model.parameters())


def attempts_left(following: list[Attempt], attempt: Attempt, error: Failure | None) -> list[Attempt]:
    """The attempts that remain after this result: all without gradients if these caused the error."""
    if error and attempt.has_gradients and torch.is_grad_enabled() and _ABOUT_GRADIENTS.search(error.message):
        return [dataclasses.replace(each, has_gradients=False) for each in (attempt, *following)]
    return following


def notes_on(failed: Attempt, following: Attempt, error: Failure) -> list[str]:
    """Say why the next attempt differs from the failed one."""
    if failed.has_gradients and not following.has_gradients:
        changed, before = "without gradients", "with them"
    elif following.mode == "real":
        changed, before = "with real values", "without them"
    elif failed.mode == "real":
        changed, before = "without real values", "with them"
    else:
        return []
    if error.type == NoFakeError.__name__:
        reason = error.message.partition(" (")[0]
    elif error.type == OWN_FAILURE:
        reason = f"{before} {error.type} {error.message}"
    else:
        reason = f"{before} the model raised {error.type}: {error.message}"
    return [f"Traced {changed}, because {reason.splitlines()[0][:220]}"]
