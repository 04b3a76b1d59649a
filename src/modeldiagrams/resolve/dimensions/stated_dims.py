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
    from collections.abc import Callable, Mapping

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
    """What a word for a dimension means; None for features, which weights fix, and what is no name."""
    for row in get_table("dimension_words"):
        if matches_any(row["names"], word.lower()):
            return Dim(row["letter"], row["meaning"]) if row["letter"] else None
    return Dim(word.upper() if len(word) == 1 else word) if NAME.fullmatch(word) else None


def find_annotated_dims(function: Callable[..., Any], name: str, rank: int) -> Dims | None:
    """The names in the annotation of an argument by jaxtyping, or in the text of one.

    Args:
        function: The model's `forward`, or what is called in its place.
        name: Of an input: of the argument, or of what is in it.
        rank: How many dimensions the input has.
    """
    parameter = get_parameters(function).get(re.split(r"[.\[]", name)[0])
    words = _find_text(parameter.annotation).split() if parameter else []
    variadic = [at for at, word in enumerate(words) if "*" in word or word == "..."]
    for at in variadic[:1]:
        word = words[at].strip("*#?.")
        words[at : at + 1] = [f"{word}{number or ''}" for number in range(rank - len(words) + 1)]
    bare = [word.split("=")[-1].strip("#?") for word in words]  # `rows=4` is 4
    return _read(bare) if words and len(words) == rank and len(variadic) <= 1 else None


def _find_text(annotation: Any) -> str:
    if isinstance(annotation, str):
        found = _TEXT.search(annotation)
        return found[1] if found else ""
    inner = (_find_text(item) for item in get_args(annotation) if not isinstance(item, str))
    return str(getattr(annotation, "dim_str", "") or next(filter(None, inner), ""))


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
        shape = shapes.get(name, ())
        words = next((words for words in list_shapes(text) if len(words) == len(shape)), [])
        if words and name not in found and "batch_first" not in text:  # that states both orders
            dims = _read(words)
            is_known = all(dim is None or len(dim.letter) <= _LETTERS for dim in dims)
            if is_known and all(
                not word.isdigit() or int(word) == size for word, size in zip(words, shape, strict=True)
            ):
                found[name] = dims
    return found


def _read(words: list[str]) -> Dims:
    """Two sides that are both called the size of an image are height and width."""
    sides = iter((Dim("H", "height"), Dim("W", "width")))
    return [next(sides, None) if dim and dim.letter == "HW" else dim for dim in map(name_word, words)]
