"""Names of dimensions in annotations, ``Float[Tensor, "b c h w"]``, and docstrings, ``of shape (batch, time)``."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from modeldiagrams.ir.expressions import NAME
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.inputs.documented_shapes import list_shapes, list_statements
from modeldiagrams.resolve.names.vocabulary import get_table, matches_any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Dim", "find_annotated_dims", "find_documented_dims", "name_word"]


class Dim(NamedTuple):
    """The name of a dimension."""

    letter: str
    """``T``, ``num_frames``."""
    meaning: str = ""
    """In words, ``frames``; empty if the kind of input decides it."""


Dims = list[Dim | None]
"""A name for each dimension of an input; None for a number that stays."""
_TEXT = re.compile(r"[\"']([\w\s.*#?=+\-/{}()]*)[\"']\s*\]")
"""The sizes in the text of an annotation."""
_LETTERS = 2
"""Names of up to this length are no words: ``B``, ``Hq``."""


@functools.lru_cache(maxsize=1024)
def name_word(word: str) -> Dim | None:
    """What a word for a dimension means; None for features, which weights fix."""
    for row in get_table("dimension_words"):
        if matches_any(row["names"], word.lower()):
            return Dim(row["letter"], row["meaning"]) if row["letter"] else None
    return Dim(word.upper() if len(word) == 1 else word)


def find_annotated_dims(function: Callable[..., Any], name: str, rank: int) -> Dims | None:
    """The names in the annotation of an argument by jaxtyping, or in the text of one.

    Args:
        function: The model's `forward`, or what is called in its place.
        name: Of an input: of the argument, or of what is in it.
        rank: How many dimensions the input has.
    """
    parameter = get_parameters(function).get(re.split(r"[.\[]", name)[0])
    text = None if parameter is None else _find_dim_text(parameter.annotation)
    return None if text is None else _read_dim_text(text.split(), rank)


def _find_dim_text(annotation: Any) -> str | None:
    if isinstance(annotation, str):
        found = _TEXT.search(annotation)
        return found[1] if found else None
    inner = (_find_dim_text(item) for item in get_args(annotation) if not isinstance(item, str))
    text: str | None = getattr(annotation, "dim_str", None) or next((each for each in inner if each), None)
    return text


def _read_dim_text(words: Sequence[str], rank: int) -> Dims | None:
    variadic = [at for at, word in enumerate(words) if "*" in word or word == "..."]
    if len(words) - len(variadic) > rank or len(variadic) > 1 or (not variadic and len(words) != rank):
        return None
    for at in variadic:
        word, count = words[at].strip("*#?"), rank - len(words) + 1
        numbered = [word if count == 1 else f"{word}{number + 1}" for number in range(count)]
        words = [*words[:at], *(["..."] * count if word in ("...", "") else numbered), *words[at + 1 :]]
    dims: Dims = []
    for word in words:
        bare = word.split("=")[-1].strip("#?")  # `rows=4` is 4
        dims.append(name_word(bare) if NAME.fullmatch(bare) else None)  # no number, `_`, `...` or expression
    return _separate(dims)


def find_documented_dims(
    model: object, function: Callable[..., Any], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Dims]:
    """The names that docstrings state, by input.

    A statement with an unknown word is void, and one with a number that is not the size: it is often about another
    input, or wrong.

    Args:
        model: The model.
        function: Its `forward`, or what is called in its place.
        shapes: Input → its sizes.
    """
    found: dict[str, Dims] = {}
    for name, text, _ in list_statements(model, function):
        shape = shapes.get(name)
        words = next((words for words in list_shapes(text) if shape is not None and len(words) == len(shape)), None)
        if name in found or words is None or shape is None:
            continue
        pairs = [*zip(words, shape, strict=True)]
        dims = [None if word.isdigit() else name_word(word) for word in words]
        is_known = all(dim is None or len(dim.letter) <= _LETTERS for dim in dims)
        if is_known and all(not word.isdigit() or int(word) == size for word, size in pairs):
            found[name] = _separate(dims)
    return found


def _separate(dims: Dims) -> Dims:
    """Two sides that are both called the size of an image are height and width; samples that come first are a batch."""
    sides = iter((Dim("H", "height"), Dim("W", "width")))
    named = [next(sides, None) if dim and dim.letter == "HW" else dim for dim in dims]
    first = [Dim("B", "batch") if dim and dim.meaning == "samples" else dim for dim in named[:1]]
    return [*first, *named[1:]]
