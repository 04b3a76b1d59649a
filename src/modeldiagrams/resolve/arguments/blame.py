"""Which unknown arguments an error is about: those in the failing expression, in its message, in its frames.

Long because errors name arguments in many ways.
"""

from __future__ import annotations

import ast
import linecache
import re
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.resolve.arguments.class_options import names_of_classes
from modeldiagrams.resolve.arguments.failed_conditions import uses_in_conditions
from modeldiagrams.resolve.arguments.stand_in_containers import Fields
from modeldiagrams.resolve.arguments.stand_in_numbers import MADE_OF, Number, Real, Refused, Use, slots_of
from modeldiagrams.resolve.arguments.stand_in_text import Text
from modeldiagrams.resolve.code.conditions import checks
from modeldiagrams.resolve.code.frames import expression_at, resolved, tracebacks
from modeldiagrams.resolve.code.source import numbered_nodes
from modeldiagrams.resolve.names.vocabulary import is_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType

    from modeldiagrams.resolve.arguments.slots import Slot

__all__ = ["has_learnt", "names_left_open", "refusal", "replaced_weights", "slots_in_error"]

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


def slots_in_error(error: BaseException, known: Iterable[Slot]) -> list[Slot]:
    """Arguments that an error may be about, likeliest first; all of them in the end."""
    frames = _frames(error)
    every = [*known]
    message = str(error)
    named = [slot for slot in every if len(slot.name) > 1 and re.search(rf"\b{re.escape(slot.name)}\b", message)]
    in_conditions = [slot for names, check, _ in checks(error) for slot in _in(check, names)]
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


def names_left_open(error: BaseException) -> Iterator[str]:
    """Arguments that an error names and that are None where it was raised: ``assert depth is not None, "depth …"``."""
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
        match expression_at(frame, at):
            case ast.Call(keywords=keywords) if lacking:
                values = [resolved(each.value, frame.f_locals) for each in keywords if each.arg is None]
                yield from (name for name in re.findall(r"'(\w+)'", lacking[1]) if dict in map(type, values))


def _keys_without_value(frame: FrameType, instruction: int) -> Iterator[str]:
    """Keys that an expression gets of a mapping and that aren't there, ``int(kwargs.get("width"))``, or got before."""
    node = expression_at(frame, instruction)
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
            return getattr(resolved(owner, names), "__dict__", {}).get(name, 0) is None
    return False


def refusal(error: BaseException, known: Iterable[Slot]) -> Refused | None:
    """What a failure says about the kind of an argument, where a value let itself be used until PyTorch refused it."""
    known = [*known]
    asked = chain(
        _of_part(error, known),
        _of_name(error, known),
        digits_missing(error, known),
        _of_class_name(error, known),
        weights_copied(error, known),
        _of_other_length(error, known),
        _of_index(error),
        uses_in_conditions(error),
        _of_mapping(error, known),
        member_too_many(error, known),
        _of_optional(error, known),
        _said(error),
    )
    return next(asked, None)


def _of_part(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """An attribute that a module or a tensor lacks which an argument is."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Tensor | nn.Module):
        yield from (Refused(slot, Use("lacks", error.name)) for slot in known if slot.given is error.obj)
    lacking = re.search(r"'bool' object (?:is not (\w+)|has no attribute '(\w+)')", str(error))
    for frame, at in _frames(error) if lacking else ():  # a flag can't be watched
        node = expression_at(frame, at)
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node else set()
        use = Use("method", lacking[2]) if lacking and lacking[2] else Use("items")
        yield from (Refused(slot, use) for slot in known if slot.name in names and type(slot.option()) is bool)


def _of_name(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """What PyTorch says of an argument by its name, or a condition of an array that was made of it."""
    said = re.search(r"argument '(\w+)' must be torch\.(dtype|device), not (Number|Real|Text)", str(error))
    if said:
        use = Use("instance", (getattr(torch, said[2]),))
        yield from (Refused(slot, use) for slot in known if slot.name.endswith(said[1]))
    if re.search(r"Dimension out of range .*\[-1, 0\]", str(error)):  # `np.asarray(adj).sum(1)`
        yield from (Refused(slot, Use("array")) for slot in known if _is_plain_graph(slot))
    for names, check, _ in checks(error):
        points = [each.id for each in ast.walk(check) if isinstance(each, ast.Name) and _is_point(names.get(each.id))]
        for slot in known:
            if slot.name in points and slot.kind == "number":
                yield Refused(slot, Use("items" if isinstance(names[slot.name], Tensor) else "array"))


def _is_plain_graph(slot: Slot) -> bool:
    return slot.kind == "number" and is_listed("graphs", slot.name)


def _of_class_name(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """A string by which a class is found: ``eval(block)``, ``getattr(blocks, name)``, ``globals()[name]``."""
    frame, at = next(iter(_frames(error)), (None, 0))
    names: Mapping[str, Any] = {}
    if isinstance(error, NameError) and frame:
        names = frame.f_globals
    elif isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        names = vars(error.obj)
    elif isinstance(error, KeyError) and frame:
        match expression_at(frame, at):
            case ast.Subscript(value=ast.Call(func=ast.Name(id="globals"))):
                names = frame.f_globals
    missing = error.args[0] if isinstance(error, KeyError) and error.args else getattr(error, "name", None)
    for slot in known if names and isinstance(missing, str) else ():
        if slot.kind == "text" and slot.option() == missing:
            found = names_of_classes(slot, names)
            yield from [Refused(slot, Use("names", found))] if found else []


def _of_mapping(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """Keys that a mapping lacks, or a copy of it: one that is read, or those that a call needs, ``make(**cfg)``."""
    if isinstance(error, KeyError):
        keys = [key for key in error.args[:1] if isinstance(key, Number)]
        yield from (Refused(slot, Use("text", "")) for key in keys for slot in key.slots)  # other keys are strings
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str) and is_key(error.args[0]):
        yield from _of_copy(error, known, Use("members", (str(error.args[0]),)))
    lacking = re.search(r"missing \d+ required .*arguments?: (.*)", str(error))
    theirs = [each for each in _frames(error) if not str(each[0].f_globals.get("__name__")).startswith(_OURS)]
    for frame, at in theirs if lacking else ():
        members = Use("members", tuple(re.findall(r"'(\w+)'", lacking[1]))) if lacking else Use("members", ())
        is_spread, spread = _spread(frame, at)
        yield from (Refused(slot, members) for slot in spread[:1])
        if is_spread:
            yield from _of_copy(error, known, members)


def _of_optional(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """Keys that a configuration may lack, but not here: ``int(cfg.get("width"))``."""
    for frame, at in _frames(error)[:2] if "NoneType" in str(error) else ():
        for name in _keys_without_value(frame, at):
            yield from (
                Refused(slot, Use("members", (name,)))
                for slot in known
                if name in slot.asked and name not in slot.children
            )


def _said(error: BaseException) -> Iterator[Refused]:
    """What a message says of an argument in one of its frames."""
    is_missing = "NoneType" in str(error)  # "int() argument must be a string …": of what isn't there
    use = None if is_missing else next((use for pattern, use in _SAID if re.search(pattern, str(error))), None)
    for frame, at in _frames(error) if use else ():
        slots = [slot for value in frame.f_locals.values() if isinstance(value, Number | Real) for slot in value.slots]
        slots = [*_in_expression(frame, at), *slots]
        if use == _WHOLE:
            slots = [slot for slot in slots if isinstance(slot.option(), float)]
        yield from (Refused(slot, use) for slot in slots[:1] if use)


def _of_other_length(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """A list that has too few items, or too many, for a function that only got its items."""
    said = re.search(r"length (?:of )?(?P<want>\d+),? (?:but )?(?:got|found|not) (?P<got>\d+)", str(error))
    if said:
        inside = {
            slot for frame, _ in _frames(error)[:1] for value in frame.f_locals.values() for slot in _slots(value)
        }
        for slot in known:
            items = {*slot.children.values()}
            if slot.kind == "items" and int(slot.option()) == int(said["got"]) and (items | {slot}) & inside:
                yield Refused(slot, Use("items", int(said["want"])))


def _of_index(error: BaseException) -> Iterator[Refused]:
    """An argument by which a list is indexed that has no such place: ``[channels[i] for i in levels]``."""
    for frame, at in _frames(error)[:1] if isinstance(error, IndexError) else ():
        match expression_at(frame, at):
            case ast.Subscript(value=owner, slice=place):
                items, index = resolved(owner, frame.f_locals), resolved(place, frame.f_locals)
                if isinstance(items, list | tuple) and items and isinstance(index, Number) and not index.is_derived:
                    yield from (Refused(slot, Use("one of", (*range(len(items)),))) for slot in index.slots)


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """Frames from the failing one outwards, each with its instruction, without PyTorch's inner ones."""
    frames = [(trace.tb_frame, trace.tb_lasti) for trace in tracebacks(error)]
    return [each for each in frames if not str(each[0].f_globals.get("__name__")).startswith(_INNER)][:_MOST_FRAMES]


def _in_expression(frame: FrameType, instruction: int) -> list[Slot]:
    node = expression_at(frame, instruction)
    return [] if node is None else _in(node, frame.f_locals)


def _in(node: ast.expr, names: Mapping[str, Any]) -> list[Slot]:
    values = [resolved(item, names) for item in ast.walk(node) if isinstance(item, ast.expr)]
    slots = [slot for value in values for slot in _slots(value)]
    return sorted(slots, key=lambda slot: slot.kind == "fields")  # what is read of it is likelier


def _of_copy(error: BaseException, known: list[Slot], members: Use) -> Iterator[Refused]:
    """What a copy of a mapping lacks, ``cfg = dict(cfg)``: one of its name, the original, or what a frame hands on."""
    for frame, at in _frames(error):
        node = expression_at(frame, at)
        names = {*_plain_dicts(node, frame)} if node else set()
        handed = [*_handed(node, frame)] if isinstance(node, ast.Call) else _in_expression(frame, at)
        handed += [slot for name in names for original in copied(name, frame) for slot in _slots(original)]
        for slot in [*handed, *(slot for slot in known if slot.name in names)]:
            if slot.kind == "fields" and not {*members.detail} <= {*slot.children}:
                yield Refused(slot, members)


def _handed(call: ast.Call, frame: FrameType) -> Iterator[Slot]:
    """Arguments that a call is given as they are: of ``build(cfg.head)`` it is the head, and not the whole."""
    for node in (call, *call.args, *(keyword.value for keyword in call.keywords)):
        inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
        yield from _slots(resolved(inner, frame.f_locals))


def _plain_dicts(node: ast.expr, frame: FrameType) -> Iterator[str]:
    """Names of copies of mappings in an expression."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute) and type(resolved(each, frame.f_locals)) is dict:
            yield each.id if isinstance(each, ast.Name) else each.attr


def _spread(frame: FrameType, instruction: int) -> tuple[bool, list[Slot]]:
    """Whether the running call gets mappings as its keyword arguments, ``make(**cfg)``, and those that are known."""
    match expression_at(frame, instruction):
        case ast.Call(keywords=keywords):
            values = [resolved(each.value, frame.f_locals) for each in keywords if each.arg is None]
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


_COPIES = ("dict", "copy", "deepcopy", "to_container")


def copied(name: str, frame: FrameType) -> Iterator[Any]:
    """What the running function made a local name of, as a copy."""
    for node in _assigned(name, frame):
        original = _original(node)
        if original is not None:
            yield resolved(original, frame.f_locals)


def spread(frame: FrameType, instruction: int) -> Iterator[Any]:
    """What the running call gets as its keyword arguments, ``make(**cfg["head"])``, or what that is a copy of."""
    match expression_at(frame, instruction):
        case ast.Call(keywords=keywords):
            for node in [keyword.value for keyword in keywords if keyword.arg is None]:
                yield resolved(node, frame.f_locals)
                if isinstance(node, ast.Name):
                    yield from copied(node.id, frame)


def _assigned(name: str, frame: FrameType) -> Iterator[ast.expr]:
    """What a name was assigned in the function that a frame runs, the last one before the running line first."""
    nodes = [node for node, line in numbered_nodes(frame, frame.f_lineno) if getattr(node, "lineno", line + 1) <= line]
    for node in sorted(nodes, key=lambda node: -getattr(node, "lineno", 0)):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value


def _original(node: ast.expr) -> ast.expr | None:
    """What an expression copies."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner, *_]) if name in _COPIES:
            return inner
        case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[]):
            return inner
        case ast.Dict(keys=[None, *_], values=[inner, *_]):
            return inner
    return None


_SIZES: dict[type[nn.Module], tuple[str, str]] = {
    nn.Embedding: ("num_embeddings", "embedding_dim"),
    nn.Linear: ("out_features", "in_features"),
}


def replaced_weights(model: nn.Module, known: Iterable[Slot]) -> Iterator[Refused]:
    """Tensors that layers have as weights, but for which their other sizes ask for another shape."""
    tensors = [slot for slot in known if slot.kind == "tensor" and isinstance(slot.given, Tensor)]
    for module in model.modules() if tensors else ():
        names = _SIZES.get(type(module))
        weight = getattr(module, "weight", None)
        if names and isinstance(weight, Tensor):
            shape = tuple(int(getattr(module, name)) for name in names)
            same = [slot for slot in tensors if slot.given.shape == weight.shape]
            yield from (Refused(slot, Use("shape", shape)) for slot in same[:1] if tuple(weight.shape) != shape)


def weights_copied(error: BaseException, known: Iterable[Slot]) -> Iterator[Refused]:
    """A tensor that is copied into weights of another shape: ``self.table.weight.data.copy_(vectors)``."""
    for trace in tracebacks(error)[:2]:
        match expression_at(trace.tb_frame, trace.tb_lasti):
            case ast.Call(func=ast.Attribute(value=target, attr="copy_"), args=[source, *_]):
                if isinstance(target, ast.Attribute) and target.attr == "data":
                    target = target.value
                into, copied = (resolved(node, trace.tb_frame.f_locals) for node in (target, source))
                if isinstance(into, Tensor):
                    yield from (
                        Refused(slot, Use("shape", tuple(into.shape))) for slot in known if slot.given is copied
                    )


def digits_missing(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """A string that has a number in it: ``int(strides.split("_")[0])``."""
    said = re.search(r"(?:invalid literal for int.*|could not convert string to float): '(.*)'", str(error))
    for slot in known if said and said[1] else ():
        if slot.kind == "text" and said and said[1] in str(slot.option()):
            yield Refused(slot, Use("text", "1"))


def is_key(key: str) -> bool:
    """Whether it is no sentence, and no argument that was looked up in a table of the author's."""
    is_choice = isinstance(key, Text) and bool(key.slot.compared)
    return not is_choice and len(key.split()) == 1


def has_learnt(error: BaseException, before: set[str]) -> bool:
    """Whether a string is in no table, which has told meanwhile what it may be.

    Args:
        error: What the constructor raised.
        before: Strings of which that was said; this one is added.
    """
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(key, Text) or str(key) in (*before, *key.slot.compared):
        return False
    before.add(str(key))
    return bool(key.slot.compared)


def member_too_many(error: BaseException, known: list[Slot]) -> Iterator[Refused]:
    """A key that another choice asked for: ``build({"type": "mlp", "depth": 4})``, where only a CNN has a depth."""
    said = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    for trace in tracebacks(error)[:_MOST_FRAMES] if said else ():
        values = [*trace.tb_frame.f_locals.values(), *spread(trace.tb_frame, trace.tb_lasti)]
        for slot in [slot for value in values for slot in _mappings(value)]:
            is_read_by_name = "attribute" in slot.ways
            if said and slot in known and slot.kind == "fields" and said[1] in slot.children and not is_read_by_name:
                yield Refused(slot, Use("without", said[1]))


def _mappings(value: Any) -> tuple[Any, ...]:
    return slots_of(value) if isinstance(value, Fields) else ()
