"""Changes the structure of inputs as a failed pass asks for: objects, dicts, lists, plain values."""

from __future__ import annotations

import ast
import linecache
import re
from typing import TYPE_CHECKING, Any, Protocol

from torch import Tensor

from modeldiagrams.resolve.code.conditions import find_unequal_sides
from modeldiagrams.resolve.code.evaluate import evaluate
from modeldiagrams.resolve.code.running_code import get_expression_at, list_tracebacks
from modeldiagrams.resolve.names.candidates import list_sizes
from modeldiagrams.resolve.values.input_entries import OBJECT, get_entry, list_leaves, put_entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from modeldiagrams.resolve.inputs.probe import Probed
    from modeldiagrams.resolve.values.input_entries import Entries, Path

__all__ = ["Seeds", "propose_structures"]

_FEW = 4
_MOST_PARTS = 8
_TRUTH = re.compile(r"Boolean value of Tensor|DataDependent|is_nonzero|_local_scalar_dense|item\(\)")
_LENGTH = re.compile(r"(\w+_)?(len|length|seq_?len|steps)", re.IGNORECASE)
"""A number by its name that says how long something is."""
_INDEX = re.compile(
    r"cannot be interpreted as an integer|only integer tensors|tuple of ints|converted to Scalar|invalid combination|"
    r"must be int|to Python scalars|_local_scalar_dense|integer argument expected|can't convert|unsupported operand|"
    r"must be a number|must be Number"
)


class Seeds(Protocol):
    """Provides first guesses."""

    def seed(self, name: str, path: Path) -> Any:
        """An entry for an input that goes by a name."""

    def again(self, entries: Entries) -> Probed | None:
        """A pass that is no try by itself: it shows what a failure depends on."""

    @property
    def optional(self) -> tuple[str, ...]:
        """Parameters that are left out so far."""


def propose_structures(entries: Entries, probed: Probed, seeds: Seeds) -> Iterator[Entries]:
    """Entries of another structure that a failed pass asks for."""
    places = probed.places()
    yield from _attributes(entries, probed, seeds, places)
    yield from _keys(entries, probed, seeds, places)
    yield from _counted(entries, probed, seeds, places)
    message = probed.message
    if "values to unpack" in message:
        yield from _unpacked(entries, probed, seeds, places)
    if _TRUTH.search(f"{type(probed.error).__name__} {message}"):
        for path in _touched(probed, places):
            yield from (put_entry(entries, path, {"value": value}) for value in (False, True))
    if _INDEX.search(message):
        for path in _touched(probed, places):
            lengths = (list_sizes("<length>")[0],) if _LENGTH.fullmatch(str(path[-1])) else ()
            yield from (put_entry(entries, path, {"value": value}) for value in (*lengths, 2, 1.0))
    if wrong := re.search(r"must be (Tensor|tuple of Tensors), not", message):
        for path in _touched(probed, places):
            several = [get_entry(entries, path)] * 2
            yield put_entry(entries, path, seeds.seed(str(path[-1]), path) if wrong[1] == "Tensor" else several)
    if "NoneType" in message:
        yield from _left_out(entries, probed, seeds)


def _attributes(entries: Entries, probed: Probed, seeds: Seeds, places: dict[int, Path]) -> Iterator[Entries]:
    error = probed.error
    if not isinstance(error, AttributeError) or not isinstance(error.name, str):
        return
    path = places.get(id(error.obj))
    if path is None:
        return
    before = get_entry(entries, path)
    is_object = isinstance(before, dict) and "_target_" in before
    if hasattr(Tensor, error.name) and not is_object:
        yield put_entry(entries, path, seeds.seed(str(path[-1]), path))
        return
    known = before if is_object else OBJECT
    yield put_entry(entries, path, {**known, error.name: seeds.seed(error.name, (*path, error.name))})


def _keys(entries: Entries, probed: Probed, seeds: Seeds, places: dict[int, Path]) -> Iterator[Entries]:
    for frame, at in probed.frames():
        node = get_expression_at(frame, at)
        for item in ast.walk(node) if node else ():
            match item:
                case ast.Subscript(value=owner, slice=key):
                    path = places.get(id(evaluate(owner, frame.f_locals)))
                    name = evaluate(key, frame.f_locals)
                    if path is not None and isinstance(name, str):
                        before = get_entry(entries, path)
                        known = before if isinstance(before, dict) and not {"shape", "value"} & before.keys() else {}
                        if name not in known:
                            yield put_entry(entries, path, {**known, name: seeds.seed(name, (*path, name))})
                            return


def _unpacked(entries: Entries, probed: Probed, seeds: Seeds, places: dict[int, Path]) -> Iterator[Entries]:
    """Either a list of parts, or a tensor of this rank, or one whose first size is the number of parts."""
    match = re.search(r"expected (\d+)", probed.message)
    frames = probed.frames()
    if not match or not frames or int(match[1]) > _MOST_PARTS:
        return
    count, frame = int(match[1]), frames[0][0]
    line = linecache.getline(frame.f_code.co_filename, list_tracebacks(probed.error)[0].tb_lineno)
    is_shape = ".shape" in line or ".size(" in line
    for path in _named(line, frame, places):
        found = next((leaf for leaf in list_leaves(get_entry(entries, path))), None)
        if found is None:
            continue
        if not is_shape:
            names = _targets(probed) or [str(path[-1])] * count
            parts = [seeds.seed(name, (*path, index)) for index, name in enumerate(names)]
            yield put_entry(entries, path, parts)
            yield put_entry(entries, path, {"shape": [count, 8], "dtype": "int64", "high": _FEW})
            yield put_entry(entries, path, found.sized(0, count).entry)


def _targets(probed: Probed) -> list[str]:
    """The names that a value is unpacked into."""
    node = get_expression_at(*probed.frames()[0])
    names = [each.id for each in node.elts if isinstance(each, ast.Name)] if isinstance(node, ast.Tuple) else []
    return names if isinstance(node, ast.Tuple) and len(names) == len(node.elts) else []


def _counted(entries: Entries, probed: Probed, seeds: Seeds, places: dict[int, Path]) -> Iterator[Entries]:
    """``len(features)`` should be another: a list of so many parts."""
    for names, (first, a, second, b) in find_unequal_sides(probed.error):
        for side, count in ((first, b), (second, a)):
            match side:
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                    path = places.get(id(names.get(name)))
                    if path is not None and type(count) is int and 0 < count <= _MOST_PARTS:
                        yield put_entry(entries, path, [seeds.seed(name, (*path, index)) for index in range(count)])


def _left_out(entries: Entries, probed: Probed, seeds: Seeds) -> Iterator[Entries]:
    for name in seeds.optional:
        if name not in entries and any(frame.f_locals.get(name, 0) is None for frame, _ in probed.frames()):
            yield {**entries, name: seeds.seed(name, (name,))}


def _touched(probed: Probed, places: dict[int, Path]) -> list[Path]:
    """Inputs in the failing expression of the innermost frame that has one."""
    for frame, at in probed.frames():
        node = get_expression_at(frame, at)
        names = [item for item in ast.walk(node) if isinstance(item, ast.Name | ast.Attribute)] if node else []
        found = [places[id(value)] for name in names if id(value := evaluate(name, frame.f_locals)) in places]
        if node is None:  # a statement, such as `if x:`
            found = _named(linecache.getline(frame.f_code.co_filename, frame.f_lineno), frame, places)
        if found:
            return [*dict.fromkeys(found)]
    return []


def _named(line: str, frame: FrameType, places: dict[int, Path]) -> list[Path]:
    owners = [frame.f_locals, *(getattr(frame.f_locals.get(name), "__dict__", {}) for name in frame.f_locals)]
    values = [owner[name] for name in re.findall(r"[A-Za-z_]\w*", line) for owner in owners if name in owner]
    return [*dict.fromkeys(places[id(value)] for value in values if id(value) in places)]
