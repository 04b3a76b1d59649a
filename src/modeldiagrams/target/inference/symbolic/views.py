"""What calls of PyTorch take and return that join, split and permute tensors."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from modeldiagrams.target.inference.parameter_names import role_of
from modeldiagrams.target.inference.symbolic.operands import (
    Args,
    Kwargs,
    argument,
    by,
    ids_below,
    kind_of,
    numbers_in,
    of_rows,
)
from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, factors_of, same, unified
from modeldiagrams.target.inference.symbolic.sizes import Rest
from modeldiagrams.target.inference.symbolic.tensors import Handler, Parts, Reading, Size, SymbolicTensor

__all__ = ["VIEWS"]

_OF_PICTURES, _CHANNELS, _PAIR = 4, (1, 3), 2
_FEW = 4
"""Times that each item of a sequence is repeated, where a tensor says how often."""


def _cat(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    parts, dim = [*(args[0] if args else kwargs["tensors"])], argument(args, kwargs, 1, "dim", 0)
    shapes = [r.shape_of(part) for part in parts]
    rank = next((shape.rank for shape in shapes if shape.rank), None)
    if rank is None and dim == 1 and _are_rows(shapes) and r.guesses.is_usual():
        rank = 2
    shapes = [shape.of_rank(rank) for shape in shapes] if rank else shapes
    shapes = [shape.reaching(dim) for shape in shapes]
    apart = [shape.replaced(dim) for shape in shapes]
    for other in apart[1:]:
        unified(apart[0], other)
    for part in parts[1:]:
        kind_of(parts[0]).join(kind_of(part))
    dims = [shape.at(dim).end() for shape in shapes]
    whole = Dim(sum(dim.value for dim in dims) if all(dim.value for dim in dims) else 0)
    if not whole.value:
        r.equations.add(whole, {each: dims.count(each) for each in dims})
    return r.tensor(shapes[0].replaced(dim, whole), kind_of(parts[0]))


def _are_rows(shapes: list[Shape]) -> bool:
    """Whether all may be rows of features; where no features are known, whatever comes next may tell the rank."""
    ends = [shape.end() for shape in shapes]
    if any(len(end.front) > 2 or len(end.back) > 1 for end in ends):  # noqa: PLR2004
        return False
    for end in ends:
        if end.row is not None:
            end.row.is_likely_empty = True
    return any(end.back for end in ends)


def _stack(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    parts, dim = [*(args[0] if args else kwargs["tensors"])], argument(args, kwargs, 1, "dim", 0)
    shapes = [r.shape_of(part) for part in parts]
    for other in shapes[1:]:
        unified(shapes[0], other)
    for part in parts[1:]:
        kind_of(parts[0]).join(kind_of(part))
    return r.tensor(shapes[0].inserted(dim, Dim(len(parts))), kind_of(parts[0]))


def _transposed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    first, second = argument(args, kwargs, 1, "dim0"), argument(args, kwargs, 2, "dim1")
    shape, last = r.shape_of(args[0]), max(first, second)
    if shape.row and shape.back and min(first, second) > 0 and len(shape.dims()) <= last + 1 and r.guesses.is_usual():
        shape = shape.of_rank(last + 1)  # features change places with steps
    shape = shape.reaching(first).reaching(second)
    if shape.row is not None and min(first, second) >= 0 and max(first, second) > 1:
        shape.row.is_likely_empty = True
    a, b = shape.at(first), shape.at(second)
    return r.tensor(shape.replaced(first, b).replaced(second, a), kind_of(args[0]))


def _permuted(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    order = numbers_in(args[1:] or [kwargs["dims"]])
    shape = r.shape_of(args[0]).of_rank(len(order))
    return r.tensor(closed(*(shape.front[at] for at in order)), kind_of(args[0]))


def _t(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return _permuted(r, (args[0], 1, 0), {})


def _flattened(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    start, end = argument(args, kwargs, 1, "start_dim", 0), argument(args, kwargs, 2, "end_dim", -1)
    shape = r.shape_of(args[0]).reaching(start)
    shape = shape.reaching(end) if end >= 0 else shape
    rank = shape.rank
    if rank is None and end == -1:
        return r.tensor(closed(*shape.front[:start], Dim()), kind_of(args[0]))
    first, last = (start % rank, end % rank) if rank else (start, end)
    joined = r.equations.product(shape.front[first : last + 1])
    new = (*shape.front[:first], joined, *shape.front[last + 1 :])
    return r.tensor(Shape(new, shape.row, shape.back), kind_of(args[0]))


def _viewed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    if not (sizes := numbers_in(args[1:] or [*kwargs.values()])):  # ``x.view(torch.int32)``
        return r.tensor()
    new = [Dim() if size == -1 else r.dim(size) for size in sizes]
    for at, size in enumerate(sizes):
        if isinstance(size, Rest):
            return r.tensor(Shape(tuple(new[:at]), size.row, tuple(new[at + 1 :])), kind_of(args[0]))
    before = r.shape_of(args[0])
    items = math.prod(dim.end().value for dim in new[1:])
    is_flat = before.rank is None and not before.dims() and sizes[0] == -1 and not _is_picture(args[0], sizes)
    if is_flat and items > 1 and r.guesses.is_usual():
        before = unified(before, closed(new[0], Dim(items)))  # ``boxes.view(-1, 2, 2)``, or patches, are flat rows
    before = _of_kept_rows(r, before, new)
    ends = before.end().front if before.rank else ()
    if sizes[:1] == [-1] and len(sizes) == _PAIR < len(ends) + 1 and not ends[-1].end().value and r.guesses.is_usual():
        same(ends[-1], new[-1])  # ``edges.view(-1, 2)``: all rows, one after the other
    plain = [dim for dim in new if dim.end().value != 1]
    if before.rank is None and len(before.dims()) < 2 and sizes.count(1) == len(sizes) - 1 > 0 > sizes[0]:  # noqa: PLR2004
        before = unified(before, closed(new[0]))  # ``scale.view(-1, 1, 1, 1)`` is of one number for each row
    few = _without_last_ones(new)
    apart = [part for dim in few for part in factors_of(dim)]
    if before.rank is None and len(before.dims()) <= len(apart) and len(apart) > len(few) and r.guesses.is_usual():
        before = unified(before, closed(*apart))  # ``frames.view(batch * steps, channels, height, width)``
    if before.rank is None and len(before.dims()) <= len(plain) < len(new) and -1 not in sizes and r.guesses.is_usual():
        before = unified(before, closed(*plain))  # a view that only adds dimensions of one item
    r.products.add(before, closed(*new))
    return r.tensor(closed(*new), kind_of(args[0]))


def _without_last_ones(dims: list[Dim]) -> list[Dim]:
    while dims and dims[-1].end().value == 1:
        dims = dims[:-1]
    return dims


def _of_kept_rows(r: Reading, before: Shape, new: list[Dim]) -> Shape:
    """Of the rank that ``x.view(x.size(0), x.size(1), heads, -1)`` tells: features are taken apart."""
    end = before.end()
    front, kept = [dim.end() for dim in end.front], len(end.front)
    are_kept = kept > 1 and len(new) > kept and new[kept - 1].end() is front[-1] and not front[-1].value
    if end.row is None or len(end.back) != 1 or not are_kept or not r.guesses.is_usual():
        return before
    for mine, other in zip(front, new, strict=False):
        same(mine, other)
    return before.of_rank(kept + 1)


def _is_picture(x: Any, sizes: list[Any]) -> bool:
    """Whether a view is that of pictures, or the name of an input says that it has so many dimensions as it is."""
    given = x.given if isinstance(x, SymbolicTensor) else None
    role = role_of(str(given.path[-1])) if given else None
    is_named = role is not None and len(sizes) in (role.dimensions or ())
    return is_named or (len(sizes) == _OF_PICTURES and sizes[1] in _CHANNELS)


def _unsqueezed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[0]).inserted(argument(args, kwargs, 1, "dim"), Dim(1)), kind_of(args[0]))


def _squeezed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    dim = argument(args, kwargs, 1, "dim")
    if not isinstance(dim, int):
        return r.tensor(None, kind_of(args[0]))
    shape = r.shape_of(args[0]).reaching(dim)
    if shape.at(dim).end().value not in (0, 1):
        return r.tensor(shape, kind_of(args[0]))
    same(shape.at(dim), Dim(1))
    return r.tensor(shape.replaced(dim), kind_of(args[0]))


def _along_features(r: Reading, shape: Shape, dim: int, part: int) -> Shape:
    """The same, as rows where dimension 1 is taken apart and the features can be."""
    back = shape.end().back
    return of_rows(r, shape) if dim == 1 and back and part > 0 == back[0].end().value % part else shape


def _chunked(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    count, dim = argument(args, kwargs, 1, "chunks"), argument(args, kwargs, 2, "dim", 0)
    shape = _along_features(r, r.shape_of(args[0]), dim, count).reaching(dim)
    whole = shape.at(dim).end()
    part = Dim(whole.value // count)
    if not part.value:
        r.equations.add(whole, {part: count})
    return tuple(r.tensor(shape.replaced(dim, part), kind_of(args[0])) for _ in range(count))


def _split(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    sizes, dim = args[1] if len(args) > 1 else next(iter(kwargs.values())), argument(args, kwargs, 2, "dim", 0)
    shape = _along_features(r, r.shape_of(args[0]), dim, sizes if isinstance(sizes, int) else sum(sizes))
    shape = shape.reaching(dim)
    if isinstance(sizes, int):
        count = shape.at(dim).end().value // sizes
        parts = Parts(r.tensor(shape.replaced(dim, r.dim(sizes)), kind_of(args[0])) for _ in range(count or 2))
        parts.dim, parts.reading = Dim(count), r  # code that takes them apart tells how many there are
        return parts
    if not any(isinstance(size, Size | SymbolicTensor) for size in sizes):
        same(shape.at(dim), Dim(sum(sizes)))
    return tuple(r.tensor(shape.replaced(dim, r.dim(size)), kind_of(args[0])) for size in sizes)


def _unbound(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    dim = argument(args, kwargs, 1, "dim", 0)
    shape = r.shape_of(args[0]).reaching(dim)
    parts = Parts(r.tensor(shape.replaced(dim), kind_of(args[0])) for _ in range(shape.at(dim).end().value or 2))
    parts.dim, parts.reading = shape.at(dim), r
    return parts


def _expanded(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    sizes = numbers_in(args[1:])
    before = r.shape_of(args[0])
    is_item = isinstance(args[0], SymbolicTensor) and args[0].given is None
    if before.rank is None and is_item and not before.dims() and -1 not in sizes and r.guesses.is_usual():
        before = before.of_rank(0)  # a number for all
    *others, last = sizes
    if before.rank is None and last == -1 and not before.end().front and _are_numbers(others) and r.guesses.is_usual():
        before = unified(before, closed(Dim(1), before.at(-1)))  # one row for all
    # where a size is kept, there is one
    if before.rank is None and len(before.dims()) <= len(sizes) and -1 in sizes[:1] and r.guesses.is_usual():
        before = before.of_rank(len(sizes))
    if before.rank is None and len(before.dims()) == len(sizes):
        before = before.of_rank(len(sizes))
    known = before.front if before.rank == len(sizes) else ()
    new = [(known[at] if known else Dim()) if size == -1 else r.dim(size) for at, size in enumerate(sizes)]
    return r.tensor(closed(*new), kind_of(args[0]))


def _are_numbers(sizes: list[Any]) -> bool:
    """Whether sizes are none of an input, and all are told."""
    return bool(sizes) and all(type(size) is int and size > 0 for size in sizes)


def _repeated(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    times = numbers_in(args[1:])
    shape = r.shape_of(args[0])
    if shape.rank is None:
        shape = shape.of_rank(max(len(times), len(shape.dims())))
    dims = [*(Dim(1) for _ in range(len(times) - len(shape.front))), *shape.front]
    new = [r.equations.product((dim, r.dim(more))) if more != 1 else dim for more, dim in zip(times, dims, strict=True)]
    return r.tensor(closed(*new), kind_of(args[0]))


def _each_repeated(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Each item so many times: as one number says, or one for each."""
    times, dim = argument(args, kwargs, 1, "repeats"), argument(args, kwargs, 2, "dim", 0)
    shape, new = r.shape_of(args[0]).reaching(dim), Dim()
    if isinstance(times, Tensor):
        ids_below(times, _FEW)
        same(r.shape_of(times).of_rank(1).at(0), shape.at(dim))
    elif isinstance(times, int):
        new = r.equations.product((shape.at(dim), r.dim(times)))
    return r.tensor(shape.replaced(dim, new), kind_of(args[0]))


def _expanded_as(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[1]), kind_of(args[0]))


VIEWS: dict[str, Handler] = {
    **by(_cat, "cat concat concatenate"),
    **by(_stack, "stack"),
    **by(_transposed, "transpose swapaxes swapdims"),
    **by(_permuted, "permute"),
    **by(_t, "t"),
    **by(_flattened, "flatten"),
    **by(_viewed, "view reshape"),
    **by(_unsqueezed, "unsqueeze"),
    **by(_squeezed, "squeeze"),
    **by(_chunked, "chunk"),
    **by(_split, "split"),
    **by(_unbound, "unbind"),
    **by(_expanded, "expand"),
    **by(_repeated, "repeat tile"),
    **by(_each_repeated, "repeat_interleave"),
    **by(_expanded_as, "expand_as view_as"),
}
