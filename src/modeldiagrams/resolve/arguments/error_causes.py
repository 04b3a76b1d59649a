"""Finds the unknown arguments that caused an error.

Long because errors name arguments in many ways.
"""

from __future__ import annotations

import ast
import inspect
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from modeldiagrams.resolve.arguments.argument_stubs import (
    MADE_OF,
    Misuse,
    Number,
    Real,
    Use,
    slots_of,
)
from modeldiagrams.resolve.code.conditions import find_failed_checks
from modeldiagrams.resolve.code.evaluate import evaluate
from modeldiagrams.resolve.code.running_code import get_expression_at, list_tracebacks
from modeldiagrams.resolve.names.vocabulary import is_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

    from modeldiagrams.resolve.arguments.slots import Slot

__all__ = ["find_refusal", "find_slots_in_error"]

_MOST_FRAMES = 12
_OURS = "modeldiagrams."
_INNER = ("torch._", "torch.utils._", "torch.library")
_NAMING = ast.Name | ast.Attribute | ast.Subscript
"""Expressions that say where a value is."""
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
    return [slot for slot in places if slot in every]


def find_refusal(error: BaseException, known: Iterable[Slot]) -> Misuse | None:
    """The use of an argument that an error reveals: PyTorch refused a value that recorded nothing itself."""
    known = [*known]
    asked = chain(
        _of_part(error, known),
        _of_array(error, known),
        _of_conditions(error),
        _of_mapping(error),
        _said(error),
    )
    return next(asked, None)


def _of_part(error: BaseException, known: list[Slot]) -> Iterator[Misuse]:
    """An attribute that a tensor or a module lacks which an argument is."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Tensor | nn.Module):
        yield from (Misuse(slot, Use("lacks", error.name)) for slot in known if slot.given is error.obj)


def _of_array(error: BaseException, known: list[Slot]) -> Iterator[Misuse]:
    """An array or a tensor that was made of a number, and has no dimension."""
    if re.search(r"Dimension out of range .*\[-1, 0\]", str(error)):  # `np.asarray(adj).sum(1)`
        graphs = (slot for slot in known if slot.kind == "number" and is_listed("graphs", slot.name))
        yield from (Misuse(slot, Use("array")) for slot in graphs)
    for names, check, _ in find_failed_checks(error):
        read = {each.id: names.get(each.id) for each in ast.walk(check) if isinstance(each, ast.Name)}
        for slot in known:
            made: Any = read.get(slot.name)
            if slot.kind == "number" and type(made).__name__ in ("ndarray", "Tensor") and made.ndim == 0:
                yield Misuse(slot, Use("items" if isinstance(made, Tensor) else "array"))


def _of_mapping(error: BaseException) -> Iterator[Misuse]:
    """Keys that a mapping lacks: those that ``make(**cfg)`` needs. Or that its other keys are strings."""
    if isinstance(error, KeyError):
        keys = [key for key in error.args[:1] if isinstance(key, Number)]
        yield from (Misuse(slot, Use("text", "")) for key in keys for slot in key.slots)
    lacking = re.search(r"missing \d+ required .*arguments?: (.*)", str(error))
    theirs = [each for each in _frames(error) if not str(each[0].f_globals.get("__name__")).startswith(_OURS)]
    for frame, at in theirs if lacking else ():
        members = Use("members", tuple(re.findall(r"'(\w+)'", lacking[1]))) if lacking else Use("members", ())
        yield from (Misuse(slot, members) for slot in _spread(frame, at)[:1])


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


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """Frames from the failing one outwards, each with its instruction, without PyTorch's inner ones."""
    frames = [(trace.tb_frame, trace.tb_lasti) for trace in list_tracebacks(error)]
    return [each for each in frames if not str(each[0].f_globals.get("__name__")).startswith(_INNER)][:_MOST_FRAMES]


def _in_expression(frame: FrameType, instruction: int) -> list[Slot]:
    node = get_expression_at(frame, instruction)
    return [] if node is None else _in(node, frame.f_locals)


def _in(node: ast.expr, names: Mapping[str, Any]) -> list[Slot]:
    values = [evaluate(item, names) for item in ast.walk(node) if isinstance(item, _NAMING)]
    slots = [slot for value in values for slot in _slots(value)]
    return sorted(slots, key=lambda slot: slot.kind == "fields")  # what is read of it is likelier


def _spread(frame: FrameType, instruction: int) -> list[Slot]:
    """Arguments that the running call unpacks as mappings: ``make(**cfg)``."""
    match get_expression_at(frame, instruction):
        case ast.Call(keywords=keywords):
            values = [evaluate(each.value, frame.f_locals) for each in keywords if each.arg is None]
            return [slot for value in values for slot in _slots(value)]
    return []


def _slots(value: Any) -> tuple[Slot, ...]:
    try:
        return getattr(value, MADE_OF, ()) if type(value) is Tensor else slots_of(value)
    except Exception:  # noqa: BLE001  (a local of the model's own may raise at any touch)
        return ()


def _of_conditions(error: BaseException) -> Iterator[Misuse]:
    """What a condition that raised asks an argument to be: an instance of a class, or as large as another number."""
    for names, check, is_wanted in find_failed_checks(error):
        if str(names.get("__name__")).startswith("torch."):
            return
        match check:
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, classes]) if is_wanted:
                yield from _of_class(evaluate(value, names), evaluate(classes, names))
            case ast.Compare(left=value, ops=[ast.Eq() | ast.NotEq() as how], comparators=[other]):
                if isinstance(how, ast.Eq) is is_wanted:
                    yield from _of_size(evaluate(value, names), evaluate(other, names))


def _of_size(one: Any, other: Any) -> Iterator[Misuse]:
    """One is as large as the other: ``assert cfg.n_branches == len(cfg.channels)``."""
    for argument, number in ((one, other), (other, one)):
        if isinstance(argument, Number) and not argument.is_derived and isinstance(number, int) and argument != number:
            yield from (Misuse(slot, Use("equal", int(number))) for slot in argument.slots)


def _of_class(value: Any, classes: Any) -> Iterator[Misuse]:
    """It is an instance of one of these classes."""
    known = [each for each in (classes if isinstance(classes, tuple) else (classes,)) if inspect.isclass(each)]
    if known and not isinstance(value, tuple(known)):
        yield from (Misuse(slot, Use("instance", tuple(known))) for slot in slots_of(value)[:1])
