"""Example inputs as the author wrote them: entries → tensors and plain values.

================================================  ==================================================================
entry                                             value
================================================  ==================================================================
``[1, 3, 8, 8]``                                  float32 tensor of this shape, normally distributed
``{shape: [1, 16], dtype: int64, high: 30522}``   integers in ``[low, high)``; `low` is 0 and `high` is 2 if not
                                                  given, which is valid as a mask, a class and an index alike
``{shape: [1], dtype: float64, low: 0, high: 1}`` uniformly distributed; normally if neither `low` nor `high` is given
``{shape: [1, 16], dtype: bool}``                 True and False at random
``{value: 3}``                                    the plain value
``[entry, entry]``, ``{key: entry}``              a list or a dict of such values, nested to any depth
``{_target_: mypkg.Batch, x: entry}``             what the class or function makes of such values: an object
================================================  ==================================================================
"""

from __future__ import annotations

import re
from collections import UserDict
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import torch

from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.values.locate import describe_object, locate, suggest_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["call_for_inputs", "make_inputs"]

_GENERATED = frozenset({torch.float64, torch.complex64, torch.complex128})
_WITHOUT_CONVERSION = re.compile(r"u?int[1-7]|bit.*|qu.*|qint.*|.*_x2")
"""Names of dtypes that torch can't convert numbers to."""
_FORMS = "a shape such as [1, 3, 8, 8], {shape: [1, 16], dtype: int64, high: 100}, or {value: 3} for a plain value"

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def call_for_inputs(path: str, sizes: Mapping[str, int] | None = None) -> Arguments:
    """Call the author's function.

    Args:
        path: Where it is.
        sizes: Values of its parameters; the others have their defaults.

    Returns:
        Its inputs: a dict holds them by name or position, a tuple by position; anything else is the one input.
    """
    function = locate(path)
    if not callable(function):
        raise TargetError(f"expected a callable for the option `inputs_from`, got {path}, {describe_object(function)}")
    with user_code(f"calling {path}"):
        returned = function(**(sizes or {}))
    # Hugging Face tokenizers and processors return a UserDict
    if isinstance(returned, dict | UserDict):
        return _arguments(dict(returned), f"what {path} returns")
    return (returned if isinstance(returned, tuple) else (returned,)), {}


def make_inputs(inputs: list[Any] | dict[str | int, Any]) -> Arguments:
    """Positional and keyword arguments from the option `inputs`.

    Args:
        inputs: A shape, entries by position, or entries by name; where keys of a map are whole numbers, by position.

    Returns:
        What to call a model with: tensors and plain values.

    Raises:
        TargetError: naming the invalid entry, or the missing position.
    """
    reader = _EntryReader()
    if isinstance(inputs, dict):
        if "shape" in inputs and inputs.keys() <= set(_TensorEntry.__struct_fields__):
            raise TargetError(
                "option `inputs`: a map is read as inputs by name; a single tensor is written as a list, "
                f"`inputs: [{{shape: {inputs['shape']}, …}}]`, or by name, `inputs: {{x: {{shape: …}}}}`"
            )
        values = {name: reader.entry(value, str(name)) for name, value in inputs.items()}
        return _arguments(values, "option `inputs`")
    if inputs and _is_shape(inputs):
        return (reader.entry(inputs, "[0]"),), {}
    return tuple(reader.entry(value, f"[{i}]") for i, value in enumerate(inputs)), {}


def _arguments(values: dict[Any, Any], what: str) -> Arguments:
    """Whole numbers are positions, also as text: keys in JSON are text, and no parameter is called `0`."""
    positions = {int(key): value for key, value in values.items() if str(key).isdecimal()}
    if sorted(positions) != [*range(len(positions))]:
        expected = ", ".join(map(str, range(len(positions))))
        raise TargetError(f"{what}: expected the positions {expected}, got {', '.join(map(str, sorted(positions)))}")
    named = {str(key): value for key, value in values.items() if not str(key).isdecimal()}
    return tuple(positions[index] for index in range(len(positions))), named


class _TensorEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A tensor as the author describes it."""

    shape: list[Annotated[int, msgspec.Meta(ge=0)]]
    dtype: str = "float32"
    low: float | None = None
    high: float | None = None


class _EntryReader:
    """Makes values of entries, one after the other, with one seeded generator."""

    def __init__(self) -> None:
        self.generator = torch.Generator().manual_seed(0)

    def entry(self, entry: Any, path: str) -> Any:
        """The value of one entry; messages show its `path` in the option."""
        match entry:
            case list() if entry and _is_shape(entry):
                return self.tensor({"shape": entry}, path)
            case list() if entry:
                return [self.entry(item, f"{path}[{i}]") for i, item in enumerate(entry)]
            case {"value": value} if len(entry) == 1:
                return value
            case dict() if "shape" in entry:
                return self.tensor(entry, path)
            case {"_target_": str(target), **attributes}:
                made = {str(key): self.entry(item, f"{path}.{key}") for key, item in attributes.items()}
                with user_code(f"making a {target}"):
                    return locate(target)(**made)
            case dict() if entry:
                return {key: self.entry(item, f"{path}.{key}") for key, item in entry.items()}
        raise TargetError(f"option `inputs`, {path}: expected {_FORMS}, got {entry!r}")

    def tensor(self, entry: dict[str, Any], path: str) -> torch.Tensor:
        try:
            spec = msgspec.convert(entry, decodable(_TensorEntry))
            return self.random(spec, _dtype(spec.dtype))
        except msgspec.ValidationError as error:
            keys = _TensorEntry.__struct_fields__
            wrong = [f"; unknown key {key!r}{suggest_name(str(key), keys)}" for key in entry if key not in keys]
            wrong += [f"; a size can't be negative: {size}" for size in _negative(entry["shape"])]
            shown = entry["shape"] if [*entry] == ["shape"] else entry
            raise TargetError(
                f"option `inputs`, {path}: expected {_FORMS}, got {shown!r}{''.join(wrong[:1])}"
            ) from error
        except ValueError as error:
            raise TargetError(f"option `inputs`, {path}: {error} (in {entry!r})") from error

    def random(self, spec: _TensorEntry, dtype: torch.dtype) -> torch.Tensor:
        has_range = spec.low is not None or spec.high is not None
        if dtype.is_floating_point or dtype.is_complex:
            # small floats (float16, float8…) have no generators of their own
            drawn = dtype if dtype in _GENERATED else torch.float32
            values = torch.randn(spec.shape, dtype=drawn, generator=self.generator)
            if has_range and dtype.is_complex:
                raise ValueError("complex numbers have no `low` and `high`")
            return (values.uniform_(*_bounds(spec, 1), generator=self.generator) if has_range else values).to(dtype)
        low, high = _bounds(spec, 2)
        return torch.randint(int(low), int(high), spec.shape, generator=self.generator).to(dtype)


def _bounds(spec: _TensorEntry, width: int) -> tuple[float, float]:
    """Range of the values, `width` wide where the author gives no end."""
    low = 0 if spec.low is None else spec.low
    high = low + width if spec.high is None else spec.high
    if not low < high:
        raise ValueError(f"expected `low` below `high`, got {low:g} and {high:g}")
    return low, high


def _negative(shape: Any) -> list[int]:
    sizes = shape if isinstance(shape, list) else []
    return [size for size in sizes if isinstance(size, int) and size < 0]


def _is_shape(entry: list[Any]) -> bool:
    return all(isinstance(size, int) and not isinstance(size, bool) for size in entry)


@cache
def _dtypes() -> dict[str, torch.dtype]:
    """Those that values can be converted to, by name."""
    dtypes = {key: value for key, value in vars(torch).items() if isinstance(value, torch.dtype)}
    return {key: value for key, value in dtypes.items() if not _WITHOUT_CONVERSION.fullmatch(key)}


def _dtype(name: str) -> torch.dtype:
    known = _dtypes()
    dtype = known.get(name.removeprefix("torch."))
    if dtype is None:
        raise ValueError(f"expected a dtype such as float32 or int64, got {name!r}{suggest_name(name, known)}")
    return dtype
