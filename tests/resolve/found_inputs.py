"""What is found for a model of a test without any option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.inputs.failure_search import FailureSearch

if TYPE_CHECKING:
    from torch import nn


def found(model_class: type[nn.Module]) -> dict[str, Any]:
    """Input → its entry, as the option `inputs` has it."""
    target = resolve(parse_options({"model": f"{model_class.__module__}.{model_class.__name__}"}).call)
    values = {a.subject: a.value for a in target.assumptions if a.subject.startswith("inputs.")}
    return {name.removeprefix("inputs."): yaml.safe_load(value) for name, value in values.items()}


def first_entries(model: nn.Module) -> dict[str, Any]:
    """What a reading of the forward proposes before any pass, with sizes that occur nowhere else."""
    return next(FailureSearch(model.eval())._seeds())
