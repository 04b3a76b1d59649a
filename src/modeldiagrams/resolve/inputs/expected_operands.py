"""What the failing call of PyTorch expected: sizes, ranks and dtypes of its operands."""

from __future__ import annotations

import ast
import itertools
import linecache
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from modeldiagrams.resolve.code.conditions import (
    find_nearest_multiple,
    find_tensor_of_rank,
    find_unequal_sides,
)
from modeldiagrams.resolve.code.evaluate import evaluate
from modeldiagrams.resolve.code.running_code import list_tracebacks
from modeldiagrams.resolve.inputs.sizes import BATCHES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modeldiagrams.resolve.inputs.probe import Probed

__all__ = ["Expectation", "find_expectations", "is_too_small"]

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Expectation:
    """One expectation."""

    what: Literal["size", "rank", "dtype"]
    value: int = 0
    """The size; by how much the rank is too low; the number of ids."""
    got: int = 0
    """The size that was there."""
    dtype: str = ""
    shapes: tuple[Shape, ...] = ()
    """Of operands that it is about."""


_WHOLE = re.compile(
    r"Long, Int|indices must be|(index|indices).* (must be|to be) .*(long|int)|expected scalar type Long|"
    r"only supports? .*int64|tensors used as indices|Expected .*(Long|int64).* but (got|found)|one_hot is only|"
    r"index tensor.* int64|dtype int64 for index",
    re.IGNORECASE,
)
_FLOAT = re.compile(
    r"int64 but found \S*float|"
    r"same dtype.*(long|int|bool)|(long|int|bool).*same dtype|not implemented for '(Long|Int|Bool)|floating point|"
    r"expected .*float.* (got|found|but)|with a bool tensor is not supported|"
    r"must have the same dtype|Input dtype must be|should be (a )?float",
    re.IGNORECASE,
)
_BOOL = re.compile(
    r"boolean mask|only (supports? )?bool|Boolean-type|expected .*bool|Bool but|logical_not|bitwise", re.IGNORECASE
)
_COMPLEX = re.compile(r"non-complex|only supported for complex|[Ee]xpected .*complex|must be complex")
_SMALL = re.compile(
    r"Kernel size can't be greater|too small|smaller than|[Oo]utput size|non-?zero size|[Pp]adding size|"
    r"index k out of range|maximum size for tensor at dimension|expected 0 < n_fft"
)


def is_too_small(probed: Probed) -> bool:
    """Whether a pass failed because an input is too small for the layers."""
    return probed.error is not None and bool(_SMALL.search(probed.message))


def find_expectations(probed: Probed) -> Iterator[Expectation]:
    """Expectations of the failing call, likeliest first."""
    message = probed.message
    shapes = tuple(tuple(operand.shape) for operand in probed.operands)
    yield from _by_condition(probed)
    yield from _by_function(probed, shapes)
    if re.search("broadcast|must match the size|non-singleton", message) and probed.function != "einsum":
        yield from _aligned(shapes)
    yield from (Expectation("rank", more, shapes=of) for more, of in find_unpacked_ranks(probed, message))
    if _COMPLEX.search(message):
        yield Expectation("dtype", dtype="complex64", shapes=shapes)
    if _FLOAT.search(message):
        whole = [s for s, o in zip(shapes, probed.operands, strict=True) if not o.is_floating_point()]
        yield Expectation("dtype", dtype="float32", shapes=tuple(whole) or shapes)
    if _WHOLE.search(message):
        rows = shapes[-1][0] if "embedding" in probed.function and shapes else 2
        yield from (Expectation("dtype", rows, dtype="int64", shapes=(shape,)) for shape in _whole_operands(probed))
    if re.search("(?<!Dimension )out of range", message) or "out of bounds" in message:
        yield Expectation("dtype", 2, dtype="int64", shapes=shapes)
    if _BOOL.search(message) and not _FLOAT.search(message):
        yield Expectation("dtype", dtype="bool", shapes=shapes[1:])
    yield from (Expectation("rank", more, shapes=of) for more, of in find_missing_ranks(probed, message, shapes))
    yield from _contrasted(message, shapes)
    yield from _views(message, shapes)


def _contrasted(message: str, shapes: tuple[Shape, ...]) -> Iterator[Expectation]:
    """Sizes that a message contrasts."""
    found, is_certain = find_contrasted_sizes(message)
    for a, b in found:
        yield Expectation("size", b, a, shapes=shapes if is_certain else ())
        yield Expectation("size", a, b, shapes=shapes if is_certain else ())


def _by_condition(probed: Probed) -> Iterator[Expectation]:
    """Sizes and ranks that a condition of the model's own compares."""
    for names, (first, a, second, b) in find_unequal_sides(probed.error):
        for side, have, want in ((first, a, b), (second, b, a)):
            tensor, near = find_tensor_of_rank(side, names), find_nearest_multiple(side, names)
            if tensor is not None and type(have) is int is type(want):
                yield Expectation("rank", want - have, shapes=(tuple(tensor.shape),))
            elif near and want == 0:
                yield Expectation("size", near[1], near[0])
            elif type(have) is int is type(want):
                yield Expectation("size", want, have)
            elif isinstance(have, tuple) and isinstance(want, tuple) and len(have) != len(want):
                yield Expectation("rank", len(want) - len(have), shapes=(have,))
            elif isinstance(have, tuple) and isinstance(want, tuple):
                yield from (Expectation("size", y, x) for x, y in zip(have, want, strict=False) if x != y)


def _whole_operands(probed: Probed) -> list[Shape]:
    operands = probed.operands[1:] if probed.function in INDEXING else probed.operands
    return [tuple(operand.shape) for operand in operands if operand.is_floating_point()][:2]


def _by_function(probed: Probed, shapes: tuple[Shape, ...]) -> Iterator[Expectation]:
    """Sizes that the other operands give."""
    match probed.function, shapes:
        case "copy_", [a, b] if len(b) > len(a):
            yield Expectation("rank", len(a) - len(b), shapes=(b,))
        case "linear" | "layer_norm" | "rms_norm", [x, w, *_] if x:
            yield Expectation("size", w[-1], x[-1], shapes=(x,))
        case "layer_norm" | "rms_norm", [x] if x and len(probed.arguments) > 1:  # without weights
            yield Expectation("size", probed.arguments[1][-1], x[-1], shapes=(x,))
        case str(name), [x, w, *_] if name.startswith("conv"):
            groups = next((a for a in probed.arguments[6:7] if isinstance(a, int)), 1)
            yield from _convolved(x, w, w[0] if "transpose" in name else w[1] * groups)
        case "matmul" | "bmm" | "mm" | "__matmul__" | "spmm", [a, b, *_] if len(a) > 1 and len(b) > 1:
            yield from _multiplied(a, b)
        case "batch_norm" | "group_norm" | "instance_norm", [x, w, *_] if len(x) > 1:
            if len(x) > 2 and x[-1] == w[0]:  # noqa: PLR2004  (features come last: there is one dimension too many)
                yield Expectation("rank", -1, shapes=(x,))
            yield Expectation("size", w[0], x[1], shapes=(x,))
        case "cat" | "concat" | "stack", [_, *_]:
            yield from _joined(probed, shapes)


def _convolved(x: Shape, w: Shape, channels: int) -> Iterator[Expectation]:
    if len(x) != len(w):
        yield Expectation("rank", len(w) - len(x), shapes=(x,))
    else:
        yield Expectation("size", channels, x[1], shapes=(x,))


def _multiplied(a: Shape, b: Shape) -> Iterator[Expectation]:
    yield Expectation("size", b[-2], a[-1], shapes=(a,))
    yield Expectation("size", a[-1], b[-2], shapes=(b,))
    if len(a) == len(b) and a[0] != b[0]:
        yield Expectation("size", a[0], b[0], shapes=(b,))


def _joined(probed: Probed, shapes: tuple[Shape, ...]) -> Iterator[Expectation]:
    first, *others = shapes
    kinds = [operand.is_floating_point() for operand in probed.operands]
    if any(kinds):
        whole = [shape for shape, is_float in zip(shapes, kinds, strict=True) if not is_float]
        yield from (Expectation("dtype", dtype="float32", shapes=(shape,)) for shape in whole)
    for other in others:
        if len(first) != len(other):
            yield Expectation("rank", len(first) - len(other), shapes=(other,))
            yield Expectation("rank", len(other) - len(first), shapes=(first,))
        else:
            joined = re.search(r"except in dimension (\d)", probed.message)
            pairs = [pair for d, pair in enumerate(zip(first, other, strict=True)) if not joined or d != int(joined[1])]
            yield from (Expectation("size", a, b, shapes=(other,)) for a, b in pairs)


def _aligned(shapes: tuple[Shape, ...]) -> Iterator[Expectation]:
    """Operands that are combined element by element: sizes that differ should not, or a rank is wrong."""
    for at, first in enumerate(shapes):
        for second in shapes[at + 1 :]:
            if (
                len(first) != len(second) and first[:1] == second[:1] and first[:1] in [(batch,) for batch in BATCHES]
            ):  # rows of one, columns of the other
                low, high = sorted((first, second), key=len)
                yield Expectation("rank", len(low) - len(high), shapes=(high,))
                yield Expectation("rank", len(high) - len(low), shapes=(low,))
            pairs = [*zip(reversed(first), reversed(second), strict=False)]
            for a, b in pairs:
                if a != b and 1 not in (a, b):
                    yield Expectation("size", b, a, shapes=(first,))
                    yield Expectation("size", a, b, shapes=(second,))
                    yield from (
                        Expectation("size", 1, size, shapes=(shape,)) for size, shape in ((b, second), (a, first))
                    )
            for shape in (first, second):
                yield from (Expectation("rank", step, shapes=(shape,)) for step in (-1, 1))


def _views(message: str, shapes: tuple[Shape, ...]) -> Iterator[Expectation]:
    """A view that asks for a number of elements."""
    match = re.search(r"shape '\[(?P<shape>[-\d, ]+)\]' is invalid for input of size (?P<size>\d+)", message)
    if match:
        sizes = [int(size) for size in match["shape"].split(",")]
        product = math.prod(size for size in sizes if size > 1)
        got = int(match["size"])
        if sizes[0] == got and -1 in sizes:  # `x.view(rows, nodes, -1)` of one number for each row
            yield Expectation("rank", 1, shapes=shapes[:1])
        yield from _of_elements(sizes, product, got)


def _of_elements(sizes: list[int], product: int, got: int) -> Iterator[Expectation]:
    """One side of a view, or all of it, for all rows or for each."""
    yield Expectation("size", product, got)
    for size in dict.fromkeys(size for size in sizes if size > 1):
        if got % (product // size) == 0:
            yield Expectation("size", got * size // product, size)
    for batch in (*BATCHES, 1):
        if got % batch == 0 and product % batch == 0:
            yield Expectation("size", product // batch, got // batch)
        if got % batch == 0:
            yield Expectation("size", product, got // batch)


_PAIRS = (
    r"has size (?P<b>\d+) .*previously seen size (?P<a>\d+)",
    r"tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\)",
    r"got:? (?P<a>\d+),? (?:but )?expected:? (?P<b>\d+)",
    r"embedding dimension of (?P<b>\d+), but got (?P<a>\d+)",
    r"Expected size (?P<b>\d+) but got size (?P<a>\d+)",
    r"Expected (?P<b>\d+),? (?:but )?got (?P<a>\d+)",
    r"[Ee]xpected (?P<b>\d+)\b.*? got:? ?(?P<a>\d+)",
    r"to be (?P<b>\d+),? but got (?P<a>\d+)",
    r"to have (?P<b>\d+) channels, but got (?P<a>\d+)",
    r"(?:must|should) be (?:equal to )?(?P<b>\d+)\b.*?got (?P<a>\d+)",
    r"\(\d+x(?P<a>\d+) and (?P<b>\d+)x\d+\)",
    r"\[\d+, (?P<a>\d+)\] X \[(?P<b>\d+), \d+\]",
    r"\((?P<a>\d+)\) .*?\((?P<b>\d+)\)",
    r"but got (?P<a>\d+) \(batch_size=(?P<b>\d+)\)",
    r"(?P<a>\d+) (?:vs\.?|!=|and) (?P<b>\d+)",
)
"""Known forms; `b` is what is likelier to be right."""
_MOST_NUMBERS = 4
"""Of a message of no known form."""


def find_contrasted_sizes(message: str) -> tuple[list[tuple[int, int]], bool]:
    """Pairs of sizes in a message that should be equal, and whether the form of the message is known."""
    found = [(int(match["a"]), int(match["b"])) for pattern in _PAIRS for match in re.finditer(pattern, message)]
    if found:
        return found, True
    numbers = dict.fromkeys(int(number) for number in re.findall(r"(?<![\w.\[-])\d{1,6}(?![\w.\]])", message))
    return [*itertools.combinations([number for number in numbers if number > 1][:_MOST_NUMBERS], 2)], False


Missing = tuple[int, tuple[Shape, ...]]
"""How many more there should be, and of which operands."""

INDEXING = ("gather", "scatter", "scatter_add", "index_select", "take_along_dim")
"""Functions whose second tensor chooses among the first one's items."""
_LOW_RANK = re.compile(r"too many indices|IndexError: Dimension|slice\(\) cannot be applied|0-dim|offsets has to be")


def find_unpacked_ranks(probed: Probed, message: str) -> Iterator[Missing]:
    """``b, c, h, w = x.shape`` says which rank `x` has."""
    match = re.search(r"values to unpack \(expected (\d+)", message)
    trace = next(iter(list_tracebacks(probed.error)), None)
    if not match or trace is None:
        return
    line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    if ".shape" not in line and ".size(" not in line:
        return
    for value in _measured(line, trace.tb_frame.f_locals):
        yield (int(match[1]) - value.ndim, (tuple(value.shape),))


def _measured(line: str, names: Mapping[str, Any]) -> Iterator[Tensor]:
    """Tensors in a line that asks for shapes: ``x.shape``, ``batch["x"].size()``, ``data.x.shape[2:]``."""
    for words in re.findall(r"[A-Za-z_][\w.]*(?:\[[\"'\d]\w*[\"']?\])*[\w.]*", line):
        owner = re.sub(r"\.(shape|size)$", "", words)
        try:
            value = evaluate(ast.parse(owner, mode="eval").body, names)
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


def find_missing_ranks(probed: Probed, message: str, shapes: tuple[Shape, ...]) -> Iterator[Missing]:
    """Numbers of dimensions that are missing."""
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
