"""Names of dimensions by convention: from an input's name, its number of dimensions, its dtype and the first layers."""

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

__all__ = ["MEANINGS", "SEQUENCES", "UsualDims", "get_last_word", "is_mask"]

MEANINGS = {"B": "batch", "H": "height", "W": "width", "E": "edges"}
"""Letters that are always about the same."""
SEQUENCES = ("T", "S", "L", "P")
"""Letters of what stands in a row: tokens, time steps, samples."""
_SOURCE = re.compile(r"(encoder|enc|memory|mem|context|ctx|cross)(_|$)")
_TARGET = re.compile(r"(decoder|dec|target|tgt|trg)(_|$)")
_KEYS = re.compile(r"(k|v|kv|keys?|values?)(_|$)")
_QUERIES = re.compile(r"(q|quer(y|ies))(_|$)")
_TOKENS = re.compile(r"embed|hidden|token|text|word|quer|key|value|src|tgt|memory|context")
_MOVED = re.compile(r"transpose|permute|movedim|swap|rearrange|\.m?T\b")
_FEW = 4
"""Sizes up to this are those of channels of images, or coordinates of points."""
_LAYERS = (
    nn.modules.conv._ConvNd,  # noqa: SLF001  (no public class is the base of all)
    nn.modules.batchnorm._NormBase,  # noqa: SLF001
    nn.Linear,
    nn.Embedding,
    nn.LayerNorm,
    nn.RNNBase,
    nn.RNNCellBase,
)
"""Layers that show what comes in first."""


class UsualDims:
    """What conventions call the dimensions of one model's inputs."""

    def __init__(self, model: Any, inputs: Mapping[str, Tensor]) -> None:
        self._inputs = inputs
        self._words = {name: get_last_word(name) for name in inputs}
        self._roles = {name: _find_role(word) for name, word in self._words.items()}
        self._has_target = any(map(_TARGET.match, self._words.values()))
        self._has_queries = any(map(_QUERIES.match, self._words.values()))
        modules = [*model.modules()] if isinstance(model, nn.Module) else []
        layers = [module for module in modules if isinstance(module, _LAYERS)]
        self._first = layers[0] if layers else None
        self._channels = next((each.in_channels for each in layers if isinstance(each, _LAYERS[0])), None)
        self._has_layers_first = any(isinstance(each, nn.RNNBase) for each in layers)
        is_layer = bool(modules) and type(modules[0]).__module__.startswith("torch.nn")
        is_direct = not _MOVED.search(get_source(getattr(model, "forward", model)))
        asked = modules if is_layer else [self._first] if is_direct else []
        self._is_batch_second = next((m.batch_first for m in asked if m and hasattr(m, "batch_first")), True) is False

    def get_sequence_letter(self, name: str) -> str:
        """T, or S for a source beside a target: for an encoder's input, or the keys beside queries."""
        word = self._words[name]
        is_source = _SOURCE.match(word) or (self._has_target and not _TARGET.match(word))
        return "S" if is_source or (self._has_queries and _KEYS.match(word)) else "T"

    def find_channels(self, name: str) -> int | None:
        """The only dimension that has as many items as the first convolution takes channels."""
        shape = self._inputs[name].shape
        places = [at for at, size in enumerate(shape) if at and size == self._channels]
        return places[0] if len(places) == 1 else None

    def find_dims(self, name: str) -> Dims:
        """A name for each dimension of an input; None for a number that stays."""
        tensor = self._inputs[name]
        if not tensor.ndim:
            return []
        rows = (row for row in get_table("usual_dimensions") if self._suits(row, name))
        row: dict[str, Any] = next(rows, {"dims": ["B" + " #" * (tensor.ndim - 1)] * tensor.ndim})
        letters = self._arrange(row, row["dims"][tensor.ndim - 1].split(), name)
        is_text = not tensor.is_floating_point() or _TOKENS.search(self._words[name])
        sequence = str(row.get("meaning", "tokens" if is_text else "time steps"))

        def explain(letter: str) -> Dim:
            letter = self.get_sequence_letter(name) if letter == "T" else letter
            meaning = {**MEANINGS, "L": "samples", "P": "past tokens"}.get(letter, sequence)
            return Dim(letter, f"source {meaning}" if letter == "S" else meaning)

        return [None if letter == "#" else explain(letter) for letter in letters]

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

    def _arrange(self, row: dict[str, Any], letters: list[str], name: str) -> list[str]:
        """Put features where the sizes and the first layers say that they are."""
        shape, text = self._inputs[name].shape, " ".join(letters)
        width = self._first.in_channels if isinstance(self._first, nn.Conv1d) else 0
        is_state = self._roles[name] == "state" and self._has_layers_first
        if text == "# E" and shape[1] == 2 != shape[0]:  # noqa: PLR2004  (from and to)
            letters = ["E", "#"]
        elif text == "B N #" and row.get("meaning") == "points" and shape[1] < _FEW <= shape[2]:
            letters = ["B", "#", "N"]
        elif text == "B T #" and is_state:  # layers, batch, features
            letters = ["#", "B", "#"]
        elif text == "B #" and width == 1:
            letters = ["B", "L"]
        elif text == "B T #" and width == shape[1] != shape[2]:
            letters = ["B", "#", "L" if width == 1 else "T"]
        elif text in ("B T", "B T #") and self._is_batch_second:
            letters = ["T", "B", *letters[2:]]
        elif "#" in letters and ("H" in letters or "L" in letters or "spectrogram" in row.get("roles", [])):
            letters = self._place_channels(letters, name, least="H" not in letters and "L" not in letters)
        return letters

    def _place_channels(self, letters: list[str], name: str, *, least: bool) -> list[str]:
        """Put channels where their number is that of the first convolution, or else where a size is small."""
        shape = self._inputs[name].shape
        usual = len(letters) - 1 - letters[::-1].index("#")
        others = [*letters[:usual], *letters[usual + 1 :]]
        start = others.index("#") + 1 if "#" in others else int("B" in letters)
        places = [*dict.fromkeys([usual, start, len(shape) - 1])]
        few = [at for at in [self.find_channels(name), *places] if at in places and shape[at] <= _FEW]
        known = [at for at in [self.find_channels(name)] if at in places]
        at = next(iter([*known, *few]), min(places, key=lambda place: shape[place]) if least else usual)
        return [*others[:at], "#", *others[at:]]


def _find_role(word: str) -> str:
    role = find_role(word)
    return role.name if role else ""


def get_last_word(name: str) -> str:
    """The last name in the path of an input, in lower case: ``mask`` of ``batch.mask``, ``cache`` of ``cache[0]``."""
    return str(["", *re.findall(r"[A-Za-z_]\w*", name)][-1]).lower()


def is_mask(name: str) -> bool:
    """Whether an input says which items of other inputs count, or belong together: it has their sizes."""
    return _find_role(get_last_word(name)) in ("mask", "adjacency")
