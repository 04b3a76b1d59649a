"""How many dimensions the operands of a failing call of PyTorch lack."""

from __future__ import annotations

import ast
import linecache
import re
from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.resolve.code.frames import resolved, tracebacks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modeldiagrams.resolve.inputs.probe import Probed

__all__ = ["INDEXING", "looked_up", "missing", "unpacked"]

Shape = tuple[int, ...]
Missing = tuple[int, tuple[Shape, ...]]
"""How many more there should be, and of which operands."""

INDEXING = ("gather", "scatter", "scatter_add", "index_select", "take_along_dim")
"""Functions whose second tensor chooses among the first one's items."""
_LOW_RANK = re.compile(r"too many indices|IndexError: Dimension|slice\(\) cannot be applied|0-dim|offsets has to be")


def unpacked(probed: Probed, message: str) -> Iterator[Missing]:
    """``b, c, h, w = x.shape`` says which rank `x` has."""
    match = re.search(r"values to unpack \(expected (\d+)", message)
    trace = next(iter(tracebacks(probed.error)), None)
    if not match or trace is None:
        return
    line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    if ".shape" not in line and ".size(" not in line:
        return
    for value in _measured(line, trace.tb_frame.f_locals):
        yield (int(match[1]) - value.ndim, (tuple(value.shape),))


def looked_up(probed: Probed) -> Iterator[Missing]:
    """``{3: …, 4: …}[x.ndim]`` has no entry for this rank."""
    key = probed.error.args[0] if isinstance(probed.error, KeyError) and probed.error.args else None
    for frame, _ in probed.frames() if type(key) is int else ():
        shapes = [tuple(value.shape) for value in frame.f_locals.values() if isinstance(value, Tensor)]
        yield from ((1, (shape,)) for shape in shapes if len(shape) == key)


def _measured(line: str, names: Mapping[str, Any]) -> Iterator[Tensor]:
    """Tensors in a line that asks for shapes: ``x.shape``, ``batch["x"].size()``, ``data.x.shape[2:]``."""
    for words in re.findall(r"[A-Za-z_][\w.]*(?:\[[\"'\d]\w*[\"']?\])*[\w.]*", line):
        owner = re.sub(r"\.(shape|size)$", "", words)
        try:
            value = resolved(ast.parse(owner, mode="eval").body, names)
        except SyntaxError:
            continue
        if isinstance(value, Tensor):
            yield value


_RANKS = (
    r"batch\d must be a (?P<want>\d)D",
    r"[a-z]+ must be (a )?(?P<want>\d)-?D",
    r"input\.dim\(\) = (?P<got>\d).*len\(dims\) = (?P<want>\d)",
    r"batched (?P<want>\d)D tensor but received (?P<got>\d)-D",
    r"must have (?P<want>\d) dimensions, got (?P<got>\d)",
    r"(?P<want>\d)D Tensor, but got Tensor of dimension (?P<got>\d)",
    r"[Ee]xpected (?P<want>\d)-?D.*?got (?P<got>\d)-?D",
    r"[Ee]xpected .*?(?P<want>\d)-?D .*got:? .*?(?P<got>\d)-?D",
    r"[Ee]xpect(?:ed)?(?: a)? \dD or (?P<want>\d)D",
    r"[Ee]xpect(?:ed)?(?: a)? (?P<want>\d)D",
)


def missing(probed: Probed, message: str, shapes: tuple[Shape, ...]) -> Iterator[Missing]:
    """How many dimensions more there should be."""
    first = shapes[:1]
    beyond = re.search(r"range of \[-?\d+, (\d+)\], but got (-?\d+)", message)
    if beyond:
        top, asked = int(beyond[1]), int(beyond[2])
        yield (asked - top if asked > 0 else -asked - top - 1, first)
    if _LOW_RANK.search(message):
        yield (1, first)
    yield from _listed_ranks(message, shapes)
    if probed.function in ("expand_as", *INDEXING) and len(shapes) > 1:
        chosen, other = (1, 0) if probed.function in INDEXING else (0, 1)
        yield (len(shapes[other]) - len(shapes[chosen]), shapes[chosen : chosen + 1])
    if "unbatched" in message and shapes:
        yield (1, (min(shapes, key=len),))
    if probed.function == "permute" and first:
        dims = [a for a in probed.arguments[1:] for a in (a if isinstance(a, tuple | list) else (a,))]
        yield (len(dims) - len(first[0]), first)
    if "sizes do not match" in message or "must match the existing size" in message:
        yield from ((step, first) for step in (1, -1))


def _listed_ranks(message: str, shapes: tuple[Shape, ...]) -> Iterator[Missing]:
    einsum = re.search(r"\((\d)\) does not match the number of dimensions \((\d)\) for operand (\d)", message)
    if einsum:
        yield (int(einsum[1]) - int(einsum[2]), shapes[int(einsum[3]) :][:1])
    for pattern in _RANKS:
        match = re.search(pattern, message)
        if match:
            groups = match.groupdict()
            for shape in shapes:
                got = int(groups.get("got") or len(shape))
                if len(shape) == got != int(groups["want"]):
                    yield (int(groups["want"]) - got, (shape,))
