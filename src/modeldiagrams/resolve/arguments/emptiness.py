"""Whether a model was made of arguments with which it is empty: a loop made no layer, a weight has no number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torch import nn

from modeldiagrams.resolve.code.source import classes_written, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_hollow"]

_FILLED = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict, nn.Sequential)


def is_hollow(model: nn.Module) -> bool:
    """Whether it has no parameter, one without a number, or a container of its own that was to be filled.

    Such arguments are worse than others: a depth of two that leaves no block, a window that convolutions use up.
    """
    sizes = [parameter.numel() for parameter in model.parameters() if type(parameter) is nn.Parameter]
    return not all(sizes) or next(model.parameters(), None) is None or any(True for _ in _empty_parts(model))


def _empty_parts(model: nn.Module) -> Iterator[str]:
    for name, part in model.named_children():
        if type(part) in _FILLED and not len(part) and not _is_written_empty(model, name):  # type: ignore[arg-type]
            yield name


def _is_written_empty(model: nn.Module, name: str) -> bool:
    """Whether it is written as a layer that does nothing: ``self.shortcut = nn.Sequential()``."""
    written = re.compile(rf"self\.{re.escape(name)}\s*=[^\n]*\bSequential\(\s*\)")
    return any(written.search(source_of(owner)) for owner in classes_written(type(model)))
