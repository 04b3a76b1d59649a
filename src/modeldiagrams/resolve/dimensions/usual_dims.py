"""Names of dimensions by convention: from an input's name, its number of dimensions, its dtype and the first layer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.code.source import get_source
from modeldiagrams.resolve.dimensions.stated_dims import Dim
from modeldiagrams.resolve.names.candidates import find_role
from modeldiagrams.resolve.names.vocabulary import get_table, matches_any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from modeldiagrams.resolve.dimensions.stated_dims import Dims

__all__ = ["MEANINGS", "UsualDims", "get_last_word", "is_mask"]

MEANINGS = {"B": "batch", "H": "height", "W": "width", "E": "edges"}
"""Letters that are always about the same."""
_USUAL = {**MEANINGS, "L": "samples", "P": "past tokens"}
_SOURCE = re.compile(r"(encoder|enc|memory|mem|context|ctx|cross)(_|$)")
_TARGET = re.compile(r"(decoder|dec|target|tgt|trg|q|quer(y|ies))(_|$)")
_TOKENS = re.compile(r"embed|hidden|token|text|word|quer|key|value|src|tgt|memory|context")
_MOVED = re.compile(r"transpose|permute|movedim|swap|rearrange|\.m?T\b")
_CONV = nn.modules.conv._ConvNd  # noqa: SLF001  (no public class is the base of all)
_NORM = nn.modules.batchnorm._NormBase  # noqa: SLF001
_LAYERS = (_CONV, _NORM, nn.Linear, nn.Embedding, nn.LayerNorm, nn.RNNBase, nn.RNNCellBase)
"""Layers that show what comes in first."""


class UsualDims:
    """What conventions call the dimensions of one model's inputs."""

    def __init__(self, model: Any, inputs: Mapping[str, Tensor]) -> None:
        self._inputs = inputs
        self._words = {name: get_last_word(name) for name in inputs}
        self._roles = {name: _find_role(word) for name, word in self._words.items()}
        self._has_target = any(map(_TARGET.match, self._words.values()))
        modules = [*model.modules()] if isinstance(model, nn.Module) else []
        first = next((module for module in modules if isinstance(module, _LAYERS)), None)
        self._channels = first.in_channels if isinstance(first, _CONV) else 0
        self._is_sound = isinstance(first, nn.Conv1d) and self._channels == 1
        is_direct = not _MOVED.search(get_source(getattr(model, "forward", model)))
        orders = [module.batch_first for module in modules if hasattr(module, "batch_first")]
        self._is_batch_second = is_direct and orders[:1] == [False]

    def find_channels(self, name: str) -> int | None:
        """The only dimension that has as many items as the first layer, a convolution, takes channels."""
        places = [at for at, size in enumerate(self._inputs[name].shape) if at and size == self._channels]
        return places[0] if len(places) == 1 else None

    def find_dims(self, name: str) -> Dims:
        """A name for each dimension of an input; None for a number that stays."""
        tensor = self._inputs[name]
        if not tensor.ndim:
            return []
        rows = (row for row in get_table("usual_dimensions") if self._suits(row, name))
        row: dict[str, Any] = next(rows, {"dims": ["B" + " #" * (tensor.ndim - 1)] * tensor.ndim})
        word = self._words[name]
        is_text = not tensor.is_floating_point() or _TOKENS.search(word)
        sequence = str(row.get("meaning", "tokens" if is_text else "time steps"))
        is_source = _SOURCE.match(word) or (self._has_target and not _TARGET.match(word))
        usual = {letter: Dim(letter, meaning) for letter, meaning in _USUAL.items()}
        usual["T"] = Dim("S", f"source {sequence}") if is_source else Dim("T", sequence)
        letters = self._arrange(row["dims"][tensor.ndim - 1], name)
        return [None if letter == "#" else usual.get(letter, Dim(letter, sequence)) for letter in letters]

    def _suits(self, row: dict[str, Any], name: str) -> bool:
        tensor, role = self._inputs[name], self._roles[name]
        is_whole = not (tensor.is_floating_point() or tensor.is_complex())
        others = {other for key, other in self._roles.items() if key != name}
        is_named = role in row.get("roles", []) or matches_any(row.get("names", []), self._words[name])
        return (
            len(row["dims"]) >= tensor.ndim
            and row["dims"][tensor.ndim - 1] != ""
            and row.get("whole", is_whole) == is_whole
            and (is_named or not row.keys() & {"roles", "names"})
            and bool("beside" not in row or others & {*row["beside"]})
        )

    def _arrange(self, text: str, name: str) -> list[str]:
        """Put the batch and features where the sizes and the layers say that they are."""
        letters, channels = text.split(), self.find_channels(name)
        if self._is_sound and text in ("B #", "B T #"):
            letters = ["B", "L"] if text == "B #" else ["B", "#", "L"]
        elif text in ("B T", "B T #") and self._is_batch_second:
            letters = ["T", "B", *letters[2:]]
        elif "#" in letters and channels is not None:
            del letters[len(letters) - 1 - letters[::-1].index("#")]
            letters.insert(channels, "#")
        return letters


def _find_role(word: str) -> str:
    role = find_role(word)
    return role.name if role else ""


def get_last_word(name: str) -> str:
    """The last name in the path of an input, in lower case: ``mask`` of ``batch.mask``, ``cache`` of ``cache[0]``."""
    return str(["", *re.findall(r"[A-Za-z_]\w*", name)][-1]).lower()


def is_mask(name: str) -> bool:
    """Whether an input says which items of other inputs count, or belong together: it has their sizes."""
    return _find_role(get_last_word(name)) in ("mask", "adjacency")
