"""What the model's own code tells of a list or a dict that it goes through: how many items, and which keys."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.target.inference.conditions import value_of
from modeldiagrams.target.inference.lookups import expression_at, tracebacks
from modeldiagrams.tracer.torch_facts.private_api import own_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

    from modeldiagrams.target.inference.symbolic.given import Given

__all__ = [
    "MOST_ITEMS",
    "USUAL_ITEMS",
    "is_beside_tensor",
    "is_zipped",
    "keys_of",
    "list_wanted",
    "loop_too_long",
    "usual_count",
]

USUAL_ITEMS = 2
MOST_ITEMS = 12
"""Of a list that is gone through beside others."""
_MOST_PARTS = 12
_KEPT = (list, tuple, nn.ModuleList, nn.ParameterList)


def usual_count(frame: FrameType) -> int:
    """How many items code gets of a list that it goes through, unless it unpacks them."""
    return MOST_ITEMS if is_zipped(frame) else _count_beside(frame) or USUAL_ITEMS  # what is beside ends it


def is_zipped(frame: FrameType) -> bool:
    """Whether the line that a frame runs goes through several things at the same time."""
    return "zip(" in linecache.getline(frame.f_code.co_filename, frame.f_lineno)


def _count_beside(frame: FrameType) -> int:
    """How many items are gone through in a loop that takes as many parts of the model by number; 0 for others.

    ``for i, x in enumerate(xs): self.heads[i](x)``
    """
    for loop, body in _loops(frame):
        match loop.target, loop.iter:
            case ast.Tuple(elts=[ast.Name(id=number), _]), ast.Call(func=ast.Name(id="enumerate"), args=[_]):
                counts = [len(part) for part in _numbered(body, number, frame) if 0 < len(part) <= _MOST_PARTS]
                if counts:
                    return min(counts)
    return 0


def is_beside_tensor(frame: FrameType, tensor: type[Any]) -> bool:
    """Whether a loop goes through rows of a tensor at the same time: then both are tensors."""
    for loop, _ in _loops(frame):
        match loop.iter:
            case ast.Call(func=ast.Name(id="zip"), args=args):
                beside = [frame.f_locals.get(arg.id) for arg in args if isinstance(arg, ast.Name)]
                if any(isinstance(each, tensor) and (each.given is None or each.given.is_used) for each in beside):
                    return True
    return False


def list_wanted(error: BaseException | None) -> Iterator[tuple[str | int, ...]]:
    """The inputs that a call of PyTorch wants several tensors for: ``torch.cat(cond["tokens"], 1)``."""
    if not isinstance(error, TypeError) or "must be tuple of Tensors, not" not in str(error):
        return
    trace = tracebacks(error)[0]
    match expression_at(trace.tb_frame, trace.tb_lasti):
        case ast.Call(args=[several, *_]):
            given = _given_by(several, trace.tb_frame.f_locals)
            if given is not None:
                yield given.path


def loop_too_long(error: BaseException | None) -> tuple[int, int] | None:
    """The number that a loop went to, and how far the parts of the model go that it takes by number.

    ``for i in range(x.shape[1]): self.embeddings[i](x[:, i])``
    """
    if not isinstance(error, IndexError):
        return None
    for trace in tracebacks(error):
        known = trace.tb_frame.f_locals
        for target, end in _ranges(trace.tb_frame, trace.tb_lineno):
            number, reached = value_of(end, known), known.get(target)
            if isinstance(number, int) and type(number) is not int and type(reached) is int and 0 < reached < number:
                return int(number), reached
    return None


def _ranges(frame: FrameType, line: int) -> Iterator[tuple[str, ast.expr]]:
    """The loops around a line that count up to a number: the name of what counts, and the number."""
    try:
        lines, first = inspect.getsourcelines(frame.f_code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    at = line - max(first, 1) + 1
    for node in ast.walk(tree):
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
        for loop in loops if getattr(node, "lineno", at + 1) <= at <= (getattr(node, "end_lineno", 0) or 0) else ():
            match loop.target, loop.iter:
                case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[end]):
                    yield name, end


def _given_by(node: ast.expr, names: Mapping[str, Any]) -> Given | None:
    match node:
        case ast.Name(id=name):
            return getattr(names.get(name), "__dict__", {}).get("given")
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)) | ast.Attribute(value=inner, attr=key):
            owner = _given_by(inner, names)
            return owner.parts.get(str(key)) if owner else None
    return None


def keys_of(given: Given, inputs: dict[str, Given], frame: FrameType) -> list[str]:
    """The keys of a dict that code goes through: those it reads of it or of one like it, or those of its parts."""
    read = [str(key) for key in given.parts]
    for other in inputs.values():
        keys = [str(key) for key in other.parts]
        if read and other is not given and other.way == "key" and {*read} < {*keys}:
            return keys
    owner = frame.f_locals.get("self")
    parts = [*owner.children(), *(held for _, held in own_attributes(owner))] if isinstance(owner, nn.Module) else []
    known = [[str(key) for key in part] for part in parts if isinstance(part, dict | nn.ModuleDict)]
    return read or next((keys for keys in known if 0 < len(keys) <= _MOST_PARTS), ["first", "second"])


def _loops(frame: FrameType) -> Iterator[tuple[Any, list[Any]]]:
    """The loops that begin on the line that a frame runs, each with what is done in it."""
    try:
        lines, first = inspect.getsourcelines(frame.f_code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    at = frame.f_lineno - max(first, 1) + 1
    for node in ast.walk(tree):
        match node:
            case ast.For(iter=items) if items.lineno <= at <= (items.end_lineno or 0):
                yield node, [*node.body]
            case ast.ListComp(elt=made, generators=loops) | ast.GeneratorExp(elt=made, generators=loops):
                begun = [loop for loop in loops if loop.iter.lineno <= at <= (loop.iter.end_lineno or 0)]
                yield from ((loop, [made]) for loop in begun)


def _numbered(body: list[Any], number: str, frame: FrameType) -> Iterator[Any]:
    """Parts of the model that are taken by the number of a loop."""
    for node in (inner for statement in body for inner in ast.walk(statement)):
        match node:
            case ast.Subscript(value=owner, slice=ast.Name(id=name)) if name == number:
                part = value_of(owner, frame.f_locals)
                if isinstance(part, _KEPT):
                    yield part
