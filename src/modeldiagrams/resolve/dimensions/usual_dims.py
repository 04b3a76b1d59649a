"""Names of dimensions by convention: from an input's name, its number of dimensions, its dtype and the first layers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torch import nn

from modeldiagrams.resolve.dimensions.stated_dims import Dim
from modeldiagrams.resolve.names.candidates import find_role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from modeldiagrams.resolve.dimensions.stated_dims import Dims

__all__ = ["UsualDims", "get_last_word", "is_mask"]

_MEANINGS = {"B": "batch", "T": "", "S": "", "H": "height", "W": "width", "L": "samples", "N": "", "E": "edges"}
_BY_KIND = {
    "whole numbers": ("B", "B T", "B # T"),
    "decimal numbers": ("", "B #", "B T #", "B # H W", "B # T H W"),
    "ids": ("B", "B T", "B # T"),
    "image": ("", "H W", "# H W", "B # H W", "B T # H W"),
    "video": ("", "", "", "T # H W", "B T # H W"),
    "spectrogram": ("", "T #", "B T #", "B # T #"),
    "sound": ("L", "B L", "B # L"),
    "points": ("", "N #", "B N #"),
    "boxes": ("", "N #", "B N #"),
    "state": ("#", "B #", "B T #"),
    "class": ("B", "B T", "B H W"),
    "adjacency": ("", "N N", "B N N"),
    "edges": ("E", "# E", "B # E"),
    "edge weights": ("E", "E #", "E # #"),
    "edge types": ("E",),
    "attention": ("", "T #", "B T #", "B # T #"),
    "nodes": ("N", "N #", "B N #"),
    "mask": ("T", "B T", "B T T", "B # T T"),
    "attention mask": ("", "T T", "B T T", "B # T T"),
    "image mask": ("", "H W", "B H W", "B # H W"),
}
"""Kind of input → a name or ``#``, a number that stays, for each dimension of inputs with one, two, … dimensions."""
_SOURCE = re.compile(r"(encoder|enc|memory|mem|context|ctx|cross|source|src)(_|$)")
_TARGET = re.compile(r"(decoder|dec|target|tgt|trg)(_|$)")
_KEYS = re.compile(r"(k|v|kv|keys?|values?)(_|$)")
_QUERIES = re.compile(r"(q|quer(y|ies))(_|$)")
_ATTENTION = re.compile(r"(q|k|v|kv|quer(y|ies)|keys?|values?)(_(states?|layer))?")
_PAIRS = re.compile(r"(attn|src|tgt|memory|causal|self)_?mask|mem_mask")
_TOKENS = re.compile(r"embed|hidden|token|text|word|quer|key|value|src|tgt|memory|context")
_POINT = 3
_CHANNELS = 4


class UsualDims:
    """What conventions call the dimensions of one model's inputs."""

    def __init__(self, model: object, inputs: Mapping[str, Tensor]) -> None:
        roles = {role.name for name in inputs if (role := find_role(get_last_word(name)))}
        self._inputs = inputs
        self._is_graph = bool(roles & {"edges", "adjacency"})
        self._has_target = any(_TARGET.match(get_last_word(name)) for name in inputs)
        self._has_queries = any(_QUERIES.match(get_last_word(name)) for name in inputs)
        modules = [*model.modules()] if isinstance(model, nn.Module) else []
        convolutions = (module for module in modules if isinstance(module, nn.modules.conv._ConvNd))  # noqa: SLF001
        self._channels = [module.in_channels for module in convolutions][:1]
        self._first = next((module for module in modules if isinstance(module, _LAYERS)), None)
        self._is_recurrent = any(isinstance(module, nn.RNNBase) for module in modules)
        own = modules[:1] if modules and type(modules[0]).__module__.startswith("torch.nn") else []
        batched = (module.batch_first for module in [*own, *modules[1:]] if own and hasattr(module, "batch_first"))
        self._is_batch_second = next(batched, True) is False

    def get_sequence_letter(self, name: str) -> str:
        """T, or S for a source beside a target: of a decoder, or the keys beside queries."""
        word = get_last_word(name)
        is_source = _SOURCE.match(word) or (self._has_target and not _TARGET.match(word))
        return "S" if is_source or (self._has_queries and _KEYS.match(word)) else "T"

    def find_dims(self, name: str) -> Dims:
        """A name for each dimension of an input; None for a number that stays."""
        tensor = self._inputs[name]
        kind = self._find_kind(get_last_word(name), tensor)
        patterns = _BY_KIND[kind]
        letters = patterns[tensor.ndim - 1].split() if 0 < tensor.ndim <= len(patterns) else []
        if len(letters) != tensor.ndim:
            letters = ["B", *["#"] * (tensor.ndim - 1)] if tensor.ndim > 1 else ["#"] * tensor.ndim
        letters = self._arrange(kind, letters, tensor.shape)
        return [None if letter == "#" else self._explain(name, letter, kind, tensor) for letter in letters]

    def _find_kind(self, word: str, tensor: Tensor) -> str:
        role = find_role(word)
        kind = role.name if role else ""
        is_whole = not (tensor.is_floating_point() or tensor.is_complex())
        if is_mask(word):
            kind = "image mask" if "pixel" in word else "attention mask" if _PAIRS.fullmatch(word) else "mask"
        elif _ATTENTION.fullmatch(word) and not is_whole:
            kind = "attention"
        elif self._is_graph and kind not in ("edges", "adjacency", "edge weights", "edge types"):
            kind = "nodes"
        elif kind in ("points", "sound", "spectrogram", "image", "state") and is_whole:
            kind = "whole numbers"
        elif kind == "ids" and not is_whole:
            kind = "decimal numbers"
        kind = "video" if kind == "image" and tensor.ndim == len(_BY_KIND["image"]) else kind
        return kind if kind in _BY_KIND else "whole numbers" if is_whole else "decimal numbers"

    def _arrange(self, kind: str, letters: list[str], shape: tuple[int, ...]) -> list[str]:
        """Put features where the sizes and the first layers say that they are."""
        rank, width = len(shape), self._first.in_channels if isinstance(self._first, nn.Conv1d) else 0
        if kind == "edges" and rank == 2 and shape[1] == 2 != shape[0]:  # noqa: PLR2004  (from and to)
            return ["E", "#"]
        if kind == "points" and rank == _POINT and shape[1] <= _POINT < shape[2]:
            return ["B", "#", "N"]
        if ("H" in letters and "#" in letters) or (kind in ("sound", "spectrogram") and rank >= _POINT):
            return self._place_channels(letters, shape, least=kind == "spectrogram")
        if letters == ["B", "#"] and width == 1:
            return ["B", "L"]
        if letters == ["B", "T", "#"] and width == shape[1] != shape[2]:
            return ["B", "#", "L" if width == 1 else "T"]
        return (
            [letters[1], letters[0], *letters[2:]] if self._is_batch_second and letters[:2] == ["B", "T"] else letters
        )

    def _place_channels(self, letters: list[str], shape: tuple[int, ...], *, least: bool) -> list[str]:
        """Put channels where their number is that of the first convolution, or else where a size is small."""
        usual = len(letters) - 1 - letters[::-1].index("#")
        others = [*letters[:usual], *letters[usual + 1 :]]
        start = others.index("#") + 1 if "#" in others else int("B" in letters)
        places = [*dict.fromkeys([usual, start, len(shape) - 1])]
        known = [at for at in places if self._channels == [shape[at]]]
        small = [at for at in places if shape[at] <= _CHANNELS]
        at = next(iter([*known, *small]), min(places, key=lambda place: shape[place]) if least else usual)
        return [*others[:at], "#", *others[at:]]

    def _explain(self, name: str, letter: str, kind: str, tensor: Tensor) -> Dim:
        letter = self.get_sequence_letter(name) if letter == "T" else letter
        meaning = _MEANINGS[letter]
        if letter in "TS":
            is_text = not tensor.is_floating_point() or _TOKENS.search(get_last_word(name))
            meaning = "frames" if kind == "video" else "tokens" if is_text else "time steps"
        elif letter == "N":
            meaning = kind if kind in ("points", "boxes") else "nodes"
        return Dim(letter, f"source {meaning}" if letter == "S" else meaning)


_LAYERS = (
    nn.modules.conv._ConvNd,  # noqa: SLF001
    nn.modules.batchnorm._NormBase,  # noqa: SLF001
    nn.Linear,
    nn.Embedding,
    nn.LayerNorm,
    nn.RNNBase,
)
"""Layers that show what comes in first."""


def get_last_word(name: str) -> str:
    """The last name in the path of an input, in lower case: ``mask`` of ``batch.mask``, ``cache`` of ``cache[0]``."""
    return str(["", *re.findall(r"[A-Za-z_]\w*", name)][-1]).lower()


def is_mask(word: str) -> bool:
    """Whether an input says which items of other inputs count: it has their sizes."""
    role = find_role(word)
    return role is not None and role.name == "mask"
