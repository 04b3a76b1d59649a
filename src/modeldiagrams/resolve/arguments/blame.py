"""Finds the unknown arguments that caused an error.

Long because errors name arguments in many ways.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from itertools import chain
from math import gcd
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.resolve.arguments.stand_ins import (
    MADE_OF,
    Fields,
    Fixed,
    Items,
    Misuse,
    Number,
    Real,
    Text,
    Use,
    slots_of,
    unwrap_numbers,
)
from modeldiagrams.resolve.code.conditions import evaluate, find_failed_checks
from modeldiagrams.resolve.code.running_code import get_expression_at, list_tracebacks, look_up_expression
from modeldiagrams.resolve.names.vocabulary import is_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

    from modeldiagrams.resolve.arguments.slots import Slot
    from modeldiagrams.resolve.code.conditions import Names

__all__ = ["find_open_names", "find_refusal", "find_slots_in_error", "learns_choices"]

_MOST_FRAMES = 12
_OURS = "modeldiagrams."
_INNER = ("torch._", "torch.utils._", "torch.library")
_WHOLE = Use("instance", (int,))
_SAID = (
    (r"not a Module subclass|is not a Module|cannot assign .* as child module", Use("forward")),
    (r"called with an iterable|not iterable|must be an iterable", Use("items")),
    (r"'(Items|Text)' object cannot be interpreted|for (%|//|/|-|\*\*): '(Items|Text)'", Use("number")),
    (r"'Text' and '|and 'Text'|but got Text|can only concatenate str", Use("number")),
    (r"expected np.ndarray", Use("array")),
    (r"(zero-|0-d)(imensional)? tensor|tensor of dimension 0|(list assignment|tuple) index out of range", Use("items")),
    (r"got Real|'Real' object", _WHOLE),
    (r"(must|should|has to) be (a )?bool", Use("instance", (bool,))),
    (r"expected to be 2-dimensional|must be a 2-?D? tensor", Use("instance", (Tensor,))),
    (r"(must|should|has to|needs? to) be an? (list|sequence)\b", Use("items")),
    (r"(must|should|has to|needs? to) be an? tuple\b", Use("instance", (tuple,))),
    (r"name must be string|(should|must|has to) be an? (str|string)\b|expected an? str", Use("text", "")),
)
"""Messages, and what the argument should be that they are about."""


def find_slots_in_error(error: BaseException, known: Iterable[Slot]) -> list[Slot]:
    """Arguments that may have caused an error, likeliest first, then all others."""
    frames = _frames(error)
    every = [*known]
    message = str(error)
    named = [slot for slot in every if len(slot.name) > 1 and re.search(rf"\b{re.escape(slot.name)}\b", message)]
    in_conditions = [slot for names, check, _ in find_failed_checks(error) for slot in _in(check, names)]
    in_expressions = [slot for frame, at in frames for slot in _in_expression(frame, at)]
    in_frames = [slot for frame, _ in frames for value in [*frame.f_locals.values()] for slot in _slots(value)]
    places = dict.fromkeys([*in_conditions, *in_expressions[:4], *named, *in_expressions, *in_frames, *every])
    found = [slot for slot in places if slot in every]
    _note_optional(found, frames)
    is_of_list = isinstance(error, TypeError) and re.search(r"(got|not):? '?(list|tuple|dict)\b", message)
    return sorted(found, key=_is_no_choice) if is_of_list else found


def _is_no_choice(slot: Slot) -> bool:
    """Whether it isn't one of the strings that code knows: they choose parts, and numbers no attribute's type."""
    return slot.kind != "text" or not slot.compared


def _note_optional(slots: list[Slot], frames: list[tuple[FrameType, int]]) -> None:
    """Arguments that the failing code asks whether they are None may be so."""
    files = dict.fromkeys(frame.f_code.co_filename for frame, _ in frames)
    source = "".join(line for file in files if "torch" not in file for line in linecache.getlines(file))
    for slot in slots:
        if re.search(rf"\b{re.escape(slot.name)} is (not )?None\b", source):
            slot.may_be_none = True


def find_open_names(error: BaseException) -> Iterator[str]:
    """Arguments that an error message names and that were None: ``assert depth is not None, "depth …"``."""
    yield from _names_handed_on(error)
    words = (
        re.findall(r"[A-Za-z_]\w+", str(error)) if isinstance(error, AssertionError | ValueError | TypeError) else []
    )
    for frame, _ in _frames(error)[:1]:
        yield from (word for word in words if frame.f_locals.get(word, 0) is None)
    for frame, at in _frames(error)[:2] if "NoneType" in str(error) else ():
        yield from _keys_without_value(frame, at)


def _names_handed_on(error: BaseException) -> Iterator[str]:
    """Arguments that a call asks for which hands on what it was given: ``super().__init__(**kwargs)``."""
    lacking = re.search(r"missing \d+ required .*arguments?: (.*)", str(error))
    for frame, at in _frames(error)[:1] if lacking else ():
        match get_expression_at(frame, at):
            case ast.Call(keywords=keywords) if lacking:
                values = [look_up_expression(each.value, frame.f_locals) for each in keywords if each.arg is None]
                yield from (name for name in re.findall(r"'(\w+)'", lacking[1]) if dict in map(type, values))


def _keys_without_value(frame: FrameType, instruction: int) -> Iterator[str]:
    """Keys that an expression gets of a mapping and that aren't there, ``int(kwargs.get("width"))``, or got before."""
    node = get_expression_at(frame, instruction)
    source = "".join(linecache.getlines(frame.f_code.co_filename)) if node else ""
    for part in ast.walk(node) if node else ():
        match part:
            case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str(key)), *_]):
                yield key
            case ast.Attribute(attr=name) | ast.Name(id=name) if _holds_none(part, frame.f_locals):
                if re.search(rf"\.(get|pop)\(\s*[\"']{name}[\"']", source):
                    yield name


def _holds_none(node: ast.expr, names: Mapping[str, Any]) -> bool:
    match node:
        case ast.Name(id=name):
            return names.get(name, 0) is None
        case ast.Attribute(value=owner, attr=name):
            return getattr(look_up_expression(owner, names), "__dict__", {}).get(name, 0) is None
    return False


def find_refusal(error: BaseException, known: Iterable[Slot]) -> Misuse | None:
    """The use of an argument that an error reveals: PyTorch refused a value that recorded nothing itself."""
    known = [*known]
    asked = chain(
        _of_part(error, known),
        _of_name(error, known),
        _of_other_length(error, known),
        _of_index(error),
        find_uses_in_conditions(error),
        _of_mapping(error, known),
        _of_optional(error, known),
        _said(error),
    )
    return next(asked, None)


def _of_part(error: BaseException, known: list[Slot]) -> Iterator[Misuse]:
    """An attribute that a module or a tensor lacks which an argument is."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Tensor | nn.Module):
        yield from (Misuse(slot, Use("lacks", error.name)) for slot in known if slot.given is error.obj)
    lacking = re.search(r"'bool' object (?:is not (\w+)|has no attribute '(\w+)')", str(error))
    for frame, at in _frames(error) if lacking else ():  # a flag can't be watched
        node = get_expression_at(frame, at)
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node else set()
        use = Use("method", lacking[2]) if lacking and lacking[2] else Use("items")
        yield from (Misuse(slot, use) for slot in known if slot.name in names and type(slot.option()) is bool)


def _of_name(error: BaseException, known: list[Slot]) -> Iterator[Misuse]:
    """What PyTorch says of an argument by its name, or a condition of an array that was made of it."""
    said = re.search(r"argument '(\w+)' must be torch\.(dtype|device), not (Number|Real|Text)", str(error))
    if said:
        use = Use("instance", (getattr(torch, said[2]),))
        yield from (Misuse(slot, use) for slot in known if slot.name.endswith(said[1]))
    if re.search(r"Dimension out of range .*\[-1, 0\]", str(error)):  # `np.asarray(adj).sum(1)`
        yield from (Misuse(slot, Use("array")) for slot in known if _is_plain_graph(slot))
    for names, check, _ in find_failed_checks(error):
        points = [each.id for each in ast.walk(check) if isinstance(each, ast.Name) and _is_point(names.get(each.id))]
        for slot in known:
            if slot.name in points and slot.kind == "number":
                yield Misuse(slot, Use("items" if isinstance(names[slot.name], Tensor) else "array"))


def _is_plain_graph(slot: Slot) -> bool:
    return slot.kind == "number" and is_listed("graphs", slot.name)


def _of_mapping(error: BaseException, known: list[Slot]) -> Iterator[Misuse]:
    """Keys that a mapping or its copy lacks: one that is read, or those that ``make(**cfg)`` needs."""
    if isinstance(error, KeyError):
        keys = [key for key in error.args[:1] if isinstance(key, Number)]
        yield from (Misuse(slot, Use("text", "")) for key in keys for slot in key.slots)  # other keys are strings
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str) and is_key(error.args[0]):
        yield from _of_copy(error, known, Use("members", (str(error.args[0]),)))
    lacking = re.search(r"missing \d+ required .*arguments?: (.*)", str(error))
    theirs = [each for each in _frames(error) if not str(each[0].f_globals.get("__name__")).startswith(_OURS)]
    for frame, at in theirs if lacking else ():
        members = Use("members", tuple(re.findall(r"'(\w+)'", lacking[1]))) if lacking else Use("members", ())
        is_spread, spread = _spread(frame, at)
        yield from (Misuse(slot, members) for slot in spread[:1])
        if is_spread:
            yield from _of_copy(error, known, members)


def _of_optional(error: BaseException, known: list[Slot]) -> Iterator[Misuse]:
    """Keys that a configuration may lack, but not here: ``int(cfg.get("width"))``."""
    for frame, at in _frames(error)[:2] if "NoneType" in str(error) else ():
        for name in _keys_without_value(frame, at):
            yield from (
                Misuse(slot, Use("members", (name,)))
                for slot in known
                if name in slot.asked and name not in slot.children
            )


def _said(error: BaseException) -> Iterator[Misuse]:
    """What a message says of an argument in one of its frames."""
    is_missing = "NoneType" in str(error)  # "int() argument must be a string …": of what isn't there
    use = None if is_missing else next((use for pattern, use in _SAID if re.search(pattern, str(error))), None)
    for frame, at in _frames(error) if use else ():
        slots = [slot for value in frame.f_locals.values() if isinstance(value, Number | Real) for slot in value.slots]
        slots = [*_in_expression(frame, at), *slots]
        if use == _WHOLE:
            slots = [slot for slot in slots if isinstance(slot.option(), float)]
        yield from (Misuse(slot, use) for slot in slots[:1] if use)


def _of_other_length(error: BaseException, known: list[Slot]) -> Iterator[Misuse]:
    """A list that has too few items, or too many, for a function that only got its items."""
    said = re.search(r"length (?:of )?(?P<want>\d+),? (?:but )?(?:got|found|not) (?P<got>\d+)", str(error))
    if said:
        inside = {
            slot for frame, _ in _frames(error)[:1] for value in frame.f_locals.values() for slot in _slots(value)
        }
        for slot in known:
            items = {*slot.children.values()}
            if slot.kind == "items" and int(slot.option()) == int(said["got"]) and (items | {slot}) & inside:
                yield Misuse(slot, Use("items", int(said["want"])))


def _of_index(error: BaseException) -> Iterator[Misuse]:
    """An argument by which a list is indexed that has no such place: ``[channels[i] for i in levels]``."""
    for frame, at in _frames(error)[:1] if isinstance(error, IndexError) else ():
        match get_expression_at(frame, at):
            case ast.Subscript(value=owner, slice=place):
                items, index = look_up_expression(owner, frame.f_locals), look_up_expression(place, frame.f_locals)
                if isinstance(items, list | tuple) and items and isinstance(index, Number) and not index.is_derived:
                    yield from (Misuse(slot, Use("one of", (*range(len(items)),))) for slot in index.slots)


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """Frames from the failing one outwards, each with its instruction, without PyTorch's inner ones."""
    frames = [(trace.tb_frame, trace.tb_lasti) for trace in list_tracebacks(error)]
    return [each for each in frames if not str(each[0].f_globals.get("__name__")).startswith(_INNER)][:_MOST_FRAMES]


def _in_expression(frame: FrameType, instruction: int) -> list[Slot]:
    node = get_expression_at(frame, instruction)
    return [] if node is None else _in(node, frame.f_locals)


def _in(node: ast.expr, names: Mapping[str, Any]) -> list[Slot]:
    values = [look_up_expression(item, names) for item in ast.walk(node) if isinstance(item, ast.expr)]
    slots = [slot for value in values for slot in _slots(value)]
    return sorted(slots, key=lambda slot: slot.kind == "fields")  # what is read of it is likelier


def _of_copy(error: BaseException, known: list[Slot], members: Use) -> Iterator[Misuse]:
    """What a copy of a mapping lacks, ``cfg = dict(cfg)``: one of its name, the original, or what a frame hands on."""
    for frame, at in _frames(error):
        node = get_expression_at(frame, at)
        names = {*_plain_dicts(node, frame)} if node else set()
        handed = [*_handed(node, frame)] if isinstance(node, ast.Call) else _in_expression(frame, at)
        for slot in [*handed, *(slot for slot in known if slot.name in names)]:
            if slot.kind == "fields" and not {*members.detail} <= {*slot.children}:
                yield Misuse(slot, members)


def _handed(call: ast.Call, frame: FrameType) -> Iterator[Slot]:
    """Arguments that a call is given as they are: of ``build(cfg.head)`` it is the head, and not the whole."""
    for node in (call, *call.args, *(keyword.value for keyword in call.keywords)):
        inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
        yield from _slots(look_up_expression(inner, frame.f_locals))


def _plain_dicts(node: ast.expr, frame: FrameType) -> Iterator[str]:
    """Names of copies of mappings in an expression."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute) and type(look_up_expression(each, frame.f_locals)) is dict:
            yield each.id if isinstance(each, ast.Name) else each.attr


def _spread(frame: FrameType, instruction: int) -> tuple[bool, list[Slot]]:
    """Whether the running call unpacks mappings, ``make(**cfg)``, and the arguments among these."""
    match get_expression_at(frame, instruction):
        case ast.Call(keywords=keywords):
            values = [look_up_expression(each.value, frame.f_locals) for each in keywords if each.arg is None]
            return bool(values), [slot for value in values for slot in _slots(value)]
    return False, []


def _is_point(value: Any) -> bool:
    """Whether a tensor or an array has no dimension."""
    return type(value).__name__ in ("ndarray", "Tensor") and value.ndim == 0


def _slots(value: Any) -> tuple[Slot, ...]:
    try:
        return getattr(value, MADE_OF, ()) if type(value) is Tensor else slots_of(value)
    except Exception:  # noqa: BLE001  (a local of the model's own may raise at any touch)
        return ()


def is_key(key: str) -> bool:
    """Whether a string is a mapping key rather than a sentence or a value looked up in a table."""
    is_choice = isinstance(key, Text) and bool(key.slot.compared)
    return not is_choice and len(key.split()) == 1


def learns_choices(error: BaseException, before: set[str]) -> bool:
    """Whether a failed lookup of a string has just recorded the valid strings.

    Args:
        error: What the constructor raised.
        before: Strings of which that was said; this one is added.
    """
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(key, Text) or str(key) in (*before, *key.slot.compared):
        return False
    before.add(str(key))
    return bool(key.slot.compared)


def find_uses_in_conditions(error: BaseException) -> Iterator[Misuse]:
    """Uses of arguments that would have satisfied the condition that raised."""
    for names, check, is_wanted in find_failed_checks(error):
        if str(names.get("__name__")).startswith("torch."):
            return
        match check:
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, classes]) if is_wanted:
                yield from _of_class(evaluate(value, names), evaluate(classes, names))
            case ast.Compare():
                yield from _of_comparison(check, names, is_wanted=is_wanted)
            case _:
                yield from _divisible(check, names, is_wanted=is_wanted)


def _of_comparison(check: ast.Compare, names: Names, *, is_wanted: bool) -> Iterator[Misuse]:
    match check:
        case ast.Compare(left=value, ops=[ast.In() | ast.NotIn() as how], comparators=[options]):
            if isinstance(how, ast.In) is is_wanted:
                yield from _one_of(evaluate(value, names), evaluate(options, names))
        case ast.Compare(left=ast.Call(func=ast.Name(id="len"), args=[value]), ops=[how], comparators=[count]):
            if isinstance(how, ast.NotEq | ast.Lt | ast.Gt) is not is_wanted:
                yield from _of_length(evaluate(value, names), count, names)
        case ast.Compare(left=value, ops=[ast.Eq() | ast.NotEq() as how], comparators=[other]):
            yield from _divisible(check, names, is_wanted=is_wanted)
            if isinstance(how, ast.Eq) is is_wanted:
                yield from _equal(evaluate(value, names), evaluate(other, names))


def _of_class(value: Any, classes: Any) -> Iterator[Misuse]:
    """It is an instance of one of these classes."""
    known = [each for each in (classes if isinstance(classes, tuple) else (classes,)) if inspect.isclass(each)]
    if known and not isinstance(value, tuple(known)):
        yield from (Misuse(slot, Use("instance", tuple(known))) for slot in slots_of(value)[:1])


def _one_of(value: Any, options: Any) -> Iterator[Misuse]:
    """It is one of these numbers."""
    is_group = isinstance(options, tuple | list | set | frozenset | range | dict) and not isinstance(options, Fields)
    known = [*options] if is_group else []
    numbers = tuple(sorted({int(each) for each in known if type(each) is int}))
    if numbers and len(numbers) == len(known) and unwrap_numbers(value) not in numbers:
        yield from (Misuse(slot, Use("one of", numbers)) for slot in slots_of(value)[:1])


def _equal(one: Any, other: Any) -> Iterator[Misuse]:
    """One is as large as the other: ``if cfg.n_branches != len(cfg.channels): raise …``."""
    for argument, number in ((one, other), (other, one)):
        if isinstance(argument, Number) and not argument.is_derived and isinstance(number, int):
            yield from (Misuse(slot, Use("one of", (int(number),))) for slot in argument.slots if argument != number)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _of_length(value: Any, count: ast.expr, names: Names) -> Iterator[Misuse]:
    """It has so many items; of two lists the shorter one gets more."""
    match count:
        case ast.Call(func=ast.Name(id="len"), args=[other]):
            lists = [each for each in (value, evaluate(other, names)) if isinstance(each, list | tuple)]
            short, size = min(lists, key=len, default=None), max(map(len, lists), default=0)
        case _:
            short, size = value, evaluate(count, names)
    if isinstance(short, Items | Fixed) and isinstance(size, int) and len(short) != size:
        yield Misuse(short.slot, Use("items", int(size)))


def _divisible(check: ast.expr, names: Names, *, is_wanted: bool) -> Iterator[Misuse]:
    """It, or what is made of it, is a multiple of a number."""
    match check:
        case ast.Compare(left=ast.BinOp() as rest, ops=[ast.Eq() | ast.NotEq() as how], comparators=[ast.Constant(0)]):
            asks_for_none = isinstance(how, ast.Eq) is is_wanted
        case ast.Call(func=ast.Name(id=name), args=[left, right]) if "divisible" in name:
            rest, asks_for_none = ast.BinOp(left, ast.Mod(), right), is_wanted
        case ast.BinOp() as rest:
            asks_for_none = not is_wanted
        case _:
            return
    if asks_for_none and isinstance(rest.op, ast.Mod):
        number, divisor = evaluate(rest.left, names), evaluate(rest.right, names)
        for slot in slots_of(number)[:1]:
            step = _step(unwrap_numbers(slot.option()), unwrap_numbers(number), unwrap_numbers(divisor))
            if step > 1:
                yield Misuse(slot, Use("multiple", step))


def _step(argument: Any, number: Any, divisor: Any) -> int:
    """What an argument has to be a multiple of, so that a number made of it is one of the divisor; 0 if unknown."""
    if not all(type(each) is int and each > 0 for each in (argument, number, divisor)) or number % divisor == 0:
        return 0
    if argument % number == 0:
        return int(divisor * (argument // number))
    return int(divisor // gcd(divisor, number // argument)) if number % argument == 0 else 0
