"""What is said of each input, in a form that a reading can start from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inference.annotations import annotations_of, choices_of, without_none
from modeldiagrams.target.inference.documented.kind_text import KindText, kind_in
from modeldiagrams.target.inference.documented.shape_text import ANY, ELLIPSIS, is_batch, rank_in, shape_in
from modeldiagrams.target.inference.documented.statements import legend, statements
from modeldiagrams.target.inference.documented.values import NamedNumbers
from modeldiagrams.target.inference.entries import leaves
from modeldiagrams.target.inference.plain_values import plain_value
from modeldiagrams.target.inference.symbolic.kinds import Kind
from modeldiagrams.target.inference.symbolic.shapes import Dim, Row, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import nn

    from modeldiagrams.target.inference.documented.shape_text import Dims
    from modeldiagrams.target.inference.symbolic.given import Given

__all__ = ["Hint", "Hints", "Symbols", "hints_of", "with_words"]

_PLAIN: dict[str, Any] = {"int": 2, "float": 1.0, "bool": False}


@dataclass(frozen=True)
class Hint:
    """What is said of one input."""

    source: str
    dims: Dims | None = None
    kind: KindText = field(default_factory=KindText)


@dataclass(frozen=True)
class Hints:
    """What is said of all inputs, as far as it is trusted."""

    found: dict[str, Hint] = field(default_factory=dict)
    """Parameter or part → what is said."""
    numbers: NamedNumbers | None = None
    required: tuple[str, ...] = ()
    texts: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that are annotated as strings, or as one of several → one that suits."""
    is_only_rank: bool = False
    """Whether sizes are not trusted."""

    def of(self, path: tuple[str | int, ...]) -> Hint | None:
        """What is said of an input, or of a part of one."""
        if path and isinstance(path[-1], int):
            whole = self.of(path[:-1])
            hint = self.found.get(str(path[-2])) if len(path) > 1 else None
            return hint if hint and hint.kind.is_several and whole is None else None
        hint = self.found.get(str(path[-1])) if path else None
        is_other = len(path) > 1 and hint is not None and str(path[-1]) in self.required
        return None if hint is None or hint.kind.is_several or hint.kind.plain or is_other else hint

    def is_several(self, path: tuple[str | int, ...]) -> bool:
        """Whether an input is said to be a list."""
        hint = self.found.get(str(path[-1])) if path else None
        return hint is not None and hint.kind.is_several and hint.dims is not None

    def plain(self, name: str) -> Any:
        """A value for an input that is said to be a number or a text; None for others."""
        hint = self.found.get(name)
        if self.texts.get(name) is not None:
            return self.texts[name]
        return _PLAIN.get(hint.kind.plain) if hint else None

    def reason(self, name: str | int, entry: Any) -> str:
        """Who says that an input, or its first part, has the rank of this entry; nothing if nobody does."""
        for leaf in leaves(entry):
            hint = self.of((str(name), *leaf.path))
            is_same = hint and hint.dims and (ELLIPSIS in hint.dims or len(hint.dims) == len(leaf.shape))
            return hint.source if hint and is_same else ""
        return ""

    def sizes(self) -> set[int]:
        """The numbers in all that is said."""
        words = {word for hint in self.found.values() for word in hint.dims or ()}
        return {self.numbers.of(word) for word in words} if self.numbers else set()

    @property
    def names(self) -> list[str]:
        """Of which a shape is said."""
        return [name for name, hint in self.found.items() if hint.dims]

    def without(self, name: str) -> Hints:
        """The same without what is said of one."""
        return replace(self, found={key: hint for key, hint in self.found.items() if key != name})


def hints_of(model: nn.Module) -> Hints:
    """Read what is said in the source of a model; none where that can't be read."""
    found: dict[str, Hint] = {}
    for each in statements(model):
        dims, kind = shape_in(each.text) or rank_in(each.text), kind_in(each.text)
        if not dims and kind == KindText():
            continue
        known = found.get(each.name)
        if known is None:
            found[each.name] = Hint(each.source, dims, kind)
        else:
            source = each.source if dims and not known.dims else known.source
            kind = known.kind if known.kind.dtype or not kind.dtype else replace(kind, plain="")
            found[each.name] = Hint(source, known.dims or dims, kind if not dims else replace(kind, plain=""))
    taken = {*parameters_of(type(model))} - {*parameters_of(model.forward)}
    numbers = NamedNumbers(model, legend(model))
    return Hints(
        {name: _with_number(hint, numbers) for name, hint in found.items() if name not in taken},
        numbers,
        tuple(parameters_of(model.forward)),
        {
            name: plain_value(a)
            for name, a in annotations_of(model.forward).items()
            if without_none(a) is str or choices_of(a)
        },
    )


def _with_number(hint: Hint, numbers: NamedNumbers) -> Hint:
    """The same, with a number that ids are below in place of its name."""
    return replace(hint, kind=replace(hint.kind, high=str(numbers.of(hint.kind.high) or "")))


def with_words(kind: Kind, given: Given) -> Kind:
    """What a tensor holds: as code says, or else as words do."""
    said = given.hint.kind if given.hint else KindText()
    high = int(said.high or 0)
    if said.dtype and not kind.dtype and not kind.is_length:
        return Kind(said.dtype, high)
    return Kind("int64", high, kind.is_length) if kind.dtype == "int64" and high and not kind.high else kind


class Symbols:
    """The dimensions that shapes in words share, in one reading."""

    def __init__(self, hints: Hints) -> None:
        self.hints = hints
        self._dims: dict[str, Dim] = {}
        self._first: dict[str, tuple[tuple[str | int, ...], int]] = {}

    def told(self, given: Given, guesses: Any) -> None:
        """Give a new input the shape that is said."""
        given.is_list = given.is_list or self.hints.is_several(given.path)
        hint = given.hint = self.hints.of(given.path) if given.path else None
        if hint is None or not hint.dims:
            return
        dims = [self._dim(word, given.path, at) for at, word in enumerate(hint.dims)]
        if ELLIPSIS in hint.dims:
            at = hint.dims.index(ELLIPSIS)
            given.tensor.known = Shape(tuple(dims[:at]), Row(guesses=guesses), tuple(dims[at + 1 :]))
        else:
            given.tensor.known = Shape(tuple(dims))

    def _dim(self, word: str, path: tuple[str | int, ...], at: int) -> Dim:
        if word in (ANY, ELLIPSIS) or self.hints.is_only_rank:
            return Dim()
        own = f"{word} of {path[-1]}" if isinstance(path[-1], int) and re.fullmatch(r"\w+_(i|l|k|n)", word) else word
        if own not in self._dims:
            number = 0 if is_batch(word) else self.hints.numbers.of(word) if self.hints.numbers else 0
            self._dims[own] = Dim(number)
            self._first[own] = path, at
        return self._dims[own]

    def ranks(self) -> Iterator[tuple[Dim, tuple[str | int, ...] | None, int]]:
        """Dimensions of which is said whether they are the batch: those have no place, others their first one."""
        if not any(map(is_batch, self._dims)):
            return
        for word, dim in self._dims.items():
            path, at = self._first[word]
            if not dim.end().value and (at == 0 or is_batch(word)):
                yield dim.end(), None if is_batch(word) else path, at
