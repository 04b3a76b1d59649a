"""What the functions of layers take and return."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from modeldiagrams.target.inference.symbolic.elements import alike
from modeldiagrams.target.inference.symbolic.operands import (
    Args,
    Kwargs,
    argument,
    as_float,
    as_lengths,
    by,
    ids_below,
    ids_chosen_by,
    kind_of,
)
from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, same, unified
from modeldiagrams.target.inference.symbolic.sides import is_of_noise, less, scaled, taken_away
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading, SymbolicTensor

__all__ = ["LAYERS", "packed_dims"]


def _linear(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    x, weight = args[0], argument(args, kwargs, 1, "weight")
    as_float(x)
    taken = r.shape_of(weight)
    shape = r.shape_of(x).reaching(-1)
    same(shape.at(-1), taken.at(-1))
    return r.tensor(shape.replaced(-1, taken.at(0)), Kind("float32"))


def _bilinear(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    weight = r.shape_of(args[2])
    for value, at in ((args[0], 1), (args[1], 2)):
        as_float(value)
        same(r.shape_of(value).reaching(-1).at(-1), weight.at(at))
    return r.tensor(r.shape_of(args[0]).replaced(-1, weight.at(0)), Kind("float32"))


def _convolution(dimensions: int, *, is_transposed: bool = False) -> Handler:
    def convolved(r: Reading, args: Args, kwargs: Kwargs) -> Any:
        x, weight = args[0], argument(args, kwargs, 1, "weight")
        groups = argument(args, kwargs, 6, "groups", 1)
        first, second = (dim.value for dim in r.shape_of(weight).front[:2])
        taken, made = (first, second * groups) if is_transposed else (second * groups, first)
        as_float(x)
        shape = r.shape_of(x).of_rank(2 + dimensions)
        same(shape.at(1), Dim(taken))
        if is_transposed and is_of_noise(x, weight, args, kwargs):
            for side in shape.front[2:]:
                same(side, side if side.end().value else Dim(1))
        lost = {} if is_transposed else taken_away(weight, args, kwargs)
        sides = (less(side, lost.get(at)) for at, side in enumerate(shape.front[2:]))
        return r.tensor(closed(shape.at(0), Dim(made), *sides), Kind("float32"))

    return convolved


def _pooled(dimensions: int) -> Handler:
    def pooled(r: Reading, args: Args, kwargs: Kwargs) -> Any:
        shape = r.shape_of(args[0]).of_rank(2 + dimensions)
        return r.tensor(closed(*shape.front[:2], *(Dim() for _ in range(dimensions))), kind_of(args[0]))

    return pooled


def _adaptive(dimensions: int) -> Handler:
    def pooled(r: Reading, args: Args, kwargs: Kwargs) -> Any:
        shape = r.shape_of(args[0]).of_rank(2 + dimensions)
        asked = args[1] if isinstance(args[1], tuple | list) else [args[1]] * dimensions
        as_float(args[0])
        sizes = [Dim(int(size)) if size else dim for size, dim in zip(asked, shape.front[2:], strict=True)]
        return r.tensor(closed(*shape.front[:2], *sizes), Kind("float32"))

    return pooled


def _embedding(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    ids, weight = args[0], argument(args, kwargs, 1, "weight")
    table = r.shape_of(weight)
    ids_below(ids, table.at(0).value)
    made = r.tensor(ids_chosen_by(r, ids).inserted(-1, table.at(1)), Kind("float32"))
    made.__dict__["is_embedded"] = True
    return made


def _one_hot(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    count = argument(args, kwargs, 1, "num_classes", -1)
    ids_below(args[0], max(0, count))
    return r.tensor(r.shape_of(args[0]).inserted(-1, r.dim(count) if count > 0 else Dim()), Kind("int64"))


def _normalized_last(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    sizes = argument(args, kwargs, 1, "normalized_shape") or ()
    shape = r.shape_of(args[0])
    for at, size in enumerate(reversed(sizes), 1):
        same(shape.at(-at), r.dim(size))
    return r.tensor(shape, Kind("float32"))


def _normalized_channels(at: int) -> Handler:
    def normalized(r: Reading, args: Args, kwargs: Kwargs) -> Any:
        as_float(args[0])
        weight = next((value for value in (*args[at:], *kwargs.values()) if isinstance(value, Tensor)), None)
        shape = r.shape_of(args[0]).reaching(1)
        if weight is not None:
            same(shape.at(1), r.shape_of(weight).at(0))
        return r.tensor(shape, Kind("float32"))

    return normalized


def _matmul(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    a, b = r.shape_of(args[0]), r.shape_of(args[1])
    as_float(args[0])
    as_float(args[1])
    if b.rank == 1:
        same(a.at(-1), b.at(0))
        return r.tensor(a.replaced(-1), Kind("float32"))
    if a.rank == 1:
        b = b.reaching(-2)
        same(a.at(0), b.at(-2))
        return r.tensor(b.replaced(-2), Kind("float32"))
    a, b = a.reaching(-1), b.reaching(-2)
    same(a.at(-1), b.at(-2))
    if a.rank == 2 and b.rank != 2:  # noqa: PLR2004  (one matrix for all)
        return r.tensor(b.replaced(-2, a.at(0)), Kind("float32"))
    if None in (a.rank, b.rank) and 2 not in (a.rank, b.rank) and r.guesses.is_usual():  # noqa: PLR2004  (no matrix)
        unified(a.reaching(-2).replaced(-1).replaced(-1), b.replaced(-1).replaced(-1))
        a, b = a.reaching(-2), b.reaching(-2)
    if a.rank and a.rank == b.rank:
        for at in range(a.rank - 2):
            alike(r, a.at(at), b.at(at))
    return r.tensor(a.replaced(-1, b.at(-1)), Kind("float32"))


def _bmm(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    for value in args[:2]:
        r.shape_of(value).of_rank(3)
    return _matmul(r, args, kwargs)


def _mm(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    for value in args[:2]:
        r.shape_of(value).of_rank(2)
    return _matmul(r, args, kwargs)


def _einsum(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    equation, *operands = args
    operands = [*operands[0]] if operands and isinstance(operands[0], tuple | list) else operands
    inputs, _, output = equation.replace(" ", "").partition("->")
    letters: dict[str, Dim] = {}
    if "..." in equation or not output:
        return r.tensor()
    for names, value in zip(inputs.split(","), operands, strict=False):
        as_float(value)
        shape = r.shape_of(value).of_rank(len(names))
        for name, dim in zip(names, shape.front, strict=True):
            same(letters.setdefault(name, dim), dim)
    return r.tensor(closed(*(letters[name] for name in output)), Kind("float32"))


def _packed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    x, lengths, batch_first = args[:3]
    shape = r.shape_of(x).reaching(1)
    rows, steps = (shape.at(0), shape.at(1)) if batch_first else (shape.at(1), shape.at(0))
    as_lengths(lengths, rows)
    sizes = r.tensor(closed(steps), Kind("int64"))
    sizes.__dict__["packed"] = rows, steps
    return r.tensor(shape.replaced(0).replaced(0, Dim()), kind_of(x)), sizes


def _unpacked(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    rows, steps = packed_dims(args[1])
    first = (rows, steps) if args[2] else (steps, rows)
    features = r.shape_of(args[0]).replaced(0)
    made = Shape((*first, *features.front), features.row, features.back)
    return r.tensor(made, Kind("float32")), r.tensor(closed(rows), Kind("int64", is_length=True))


def packed_dims(sizes: Any) -> tuple[Dim, Dim]:
    """The rows and the steps that were packed in steps of these sizes."""
    found = getattr(sizes, "packed", None) if isinstance(sizes, SymbolicTensor) else None
    return found or (Dim(), Dim())


def _resized(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0])
    as_float(args[0])
    rank = shape.rank or 4
    shape = shape.of_rank(rank)
    size, scale = argument(args, kwargs, 1, "size"), argument(args, kwargs, 2, "scale_factor")
    sides = [scaled(side, scale) for side in shape.front[2:]]
    if isinstance(size, tuple | list) and len(size) == len(sides):
        sides = [r.dim(each) if isinstance(each, int) else Dim() for each in size]
    return r.tensor(closed(*shape.front[:2], *sides), Kind("float32"))


def _padded(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0])
    for at in range(1, len(args[1]) // 2 + 1):
        if any(args[1][2 * at - 2 : 2 * at]):
            more, side = sum(args[1][2 * at - 2 : 2 * at]), shape.reaching(-at).at(-at).end()
            new = Dim(padded=(side, more))
            r.equations.add(new, {side: 1}, more)
            shape = shape.replaced(-at, new)
    return r.tensor(shape, kind_of(args[0]))


def _attended(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    query, key, value = (r.shape_of(each).reaching(-2) for each in args[:3])
    same(query.at(-1), key.at(-1))
    same(key.at(-2), value.at(-2))
    return r.tensor(query.replaced(-1, value.at(-1)), Kind("float32"))


LAYERS: dict[str, Handler] = {
    **by(_linear, "linear"),
    **by(_bilinear, "bilinear"),
    **{f"conv{n}d": _convolution(n) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _convolution(n, is_transposed=True) for n in (1, 2, 3)},
    **{f"{kind}_pool{n}d": _pooled(n) for n in (1, 2, 3) for kind in ("max", "avg", "lp")},
    **{f"_{kind}_pool{n}d": _pooled(n) for n in (1, 2, 3) for kind in ("max", "avg")},
    **{f"adaptive_{kind}_pool{n}d": _adaptive(n) for n in (1, 2, 3) for kind in ("max", "avg")},
    **by(_embedding, "embedding"),
    **by(_one_hot, "one_hot"),
    **by(_normalized_last, "layer_norm rms_norm"),
    **by(_normalized_channels(1), "batch_norm instance_norm"),
    **by(_normalized_channels(2), "group_norm"),
    **by(_matmul, "matmul __matmul__ __rmatmul__"),
    **by(_bmm, "bmm"),
    **by(_mm, "mm spmm"),
    **by(_einsum, "einsum"),
    **by(_packed, "_pack_padded_sequence"),
    **by(_unpacked, "_pad_packed_sequence"),
    **by(_resized, "interpolate upsample"),
    **by(_padded, "pad"),
    **by(_attended, "scaled_dot_product_attention"),
}
