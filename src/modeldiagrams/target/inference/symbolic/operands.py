"""What the rules for calls of PyTorch share."""

from __future__ import annotations

from typing import Any

from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, unified
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading, SymbolicTensor

__all__ = [
    "Args",
    "Kwargs",
    "argument",
    "as_float",
    "as_lengths",
    "by",
    "ids_below",
    "ids_chosen_by",
    "kind_of",
    "numbers_in",
    "of_rows",
]

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def kind_of(value: Any) -> Kind:
    """What an operand holds."""
    return value.kind if isinstance(value, SymbolicTensor) else Kind()


def as_float(value: Any) -> None:
    """Note that an operand holds numbers that aren't whole."""
    if isinstance(value, SymbolicTensor):
        value.kind.become("float32")


def as_lengths(value: Any, *rows: Dim) -> None:
    """Note that an operand says how long each row is, or how long something is."""
    if isinstance(value, SymbolicTensor):
        value.kind.become("int64")
        value.kind.end().is_length = True
        unified(value.known, closed(*rows))


def ids_below(value: Any, high: int = 0) -> None:
    """Note that an operand chooses among so many things."""
    if isinstance(value, SymbolicTensor):
        value.kind.become("int64", high)


def ids_chosen_by(r: Reading, ids: Any) -> Shape:
    """The shape of ids: a column of them, ``x[:, 0]``, has rather one for each row than several."""
    shape = r.shape_of(ids)
    is_open = vars(ids).get("is_column") and shape.rank is None and len(shape.dims()) <= 1
    return shape.of_rank(1) if is_open and r.guesses.is_usual() else shape


def of_rows(r: Reading, shape: Shape) -> Shape:
    """The same as rows: where something is done along dimension 1 of features, these are rather one than two."""
    end = shape.end()
    if end.row is None or len(end.front) > 1 or len(end.back) != 1 or not r.guesses.is_usual():
        return shape
    return shape.of_rank(2)


def argument(args: Args, kwargs: Kwargs, at: int, name: str, default: Any = None) -> Any:
    """An argument by its position or its name."""
    return args[at] if len(args) > at else kwargs.get(name, default)


def numbers_in(values: Any) -> list[Any]:
    """Whole numbers among arguments, and in a tuple among them: both are usual for sizes."""
    flat = [item for value in values for item in (value if isinstance(value, tuple | list) else [value])]
    return [value for value in flat if isinstance(value, int) or getattr(value, "given", None)]


def by(handler: Handler, names: str) -> dict[str, Handler]:
    """The same for several names of functions."""
    return dict.fromkeys(names.split(), handler)
