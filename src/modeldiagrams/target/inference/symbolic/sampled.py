"""What calls of PyTorch take and return that sample pictures, or put their parts elsewhere."""

from __future__ import annotations

import math
from typing import Any

from modeldiagrams.target.inference.symbolic.operands import Args, Kwargs, argument, as_float, by, kind_of, numbers_in
from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, same
from modeldiagrams.target.inference.symbolic.sides import scaled
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading

__all__ = ["SAMPLED"]

_PICTURES = 4
"""Dimensions of a batch of pictures."""


def _by_grid(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Pictures, or volumes, at the places of a grid."""
    x, grid = args[0], argument(args, kwargs, 1, "grid")
    as_float(x)
    as_float(grid)
    rank = r.shape_of(x).rank or r.shape_of(grid).rank or _PICTURES
    taken, places = r.shape_of(x).of_rank(rank), r.shape_of(grid).of_rank(rank)
    same(taken.at(0), places.at(0))
    same(places.at(-1), Dim(rank - 2))
    return r.tensor(closed(*taken.front[:2], *places.front[1:-1]), Kind("float32"))


def _affine(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """The grid that a matrix for each row turns and moves."""
    theta, sizes = args[0], numbers_in([argument(args, kwargs, 1, "size")])
    as_float(theta)
    space = max(len(sizes) - 2, 2)
    shape = r.shape_of(theta).of_rank(3)
    same(shape.at(1), Dim(space))
    same(shape.at(2), Dim(space + 1))
    sides = [r.dim(size) for size in sizes[2:]] or [Dim(), Dim()]
    return r.tensor(closed(shape.at(0), *sides, Dim(space)), Kind("float32"))


def _shuffled(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Channels become places between those that there are."""
    times = argument(args, kwargs, 1, "upscale_factor")
    as_float(args[0])
    shape = _pictures(r, args[0])
    less = _share(r, shape.at(-3), times**2)
    sides = [scaled(shape.at(at), times) for at in (-2, -1)]
    return r.tensor(closed(*shape.front[:-3], less, *sides), Kind("float32"))


def _unshuffled(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    times = argument(args, kwargs, 1, "downscale_factor")
    as_float(args[0])
    shape = _pictures(r, args[0])
    more = Dim(shape.at(-3).end().value * times**2)
    if not more.value:
        r.equations.add(more, {shape.at(-3): times**2})
    sides = [_share(r, shape.at(at), times) for at in (-2, -1)]
    return r.tensor(closed(*shape.front[:-3], more, *sides), Kind("float32"))


def _pictures(r: Reading, x: Any) -> Shape:
    shape = r.shape_of(x)
    return shape.of_rank(shape.rank or _PICTURES)


def _share(r: Reading, whole: Dim, of: int) -> Dim:
    part = Dim(whole.end().value // of)
    if not part.value:
        whole.end().step = max(whole.end().step, of)
        r.equations.add(whole, {part: of})
    return part


def _unfolded(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Pieces of pictures as columns; or of one dimension, by a method."""
    if "dilation" not in kwargs:
        return _windows(r, args, kwargs)
    as_float(args[0])
    shape = r.shape_of(args[0]).of_rank(_PICTURES)
    items = math.prod(_pair(args[1]))
    channels = shape.at(1).end()
    columns = Dim(channels.value * items)
    if not columns.value:
        r.equations.add(columns, {channels: items})
    return r.tensor(closed(shape.at(0), columns, Dim()), Kind("float32"))


def _windows(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x.unfold(dimension, size, step)``: the pieces come last."""
    dim, size = argument(args, kwargs, 1, "dimension"), argument(args, kwargs, 2, "size")
    step = argument(args, kwargs, 3, "step")
    shape = r.shape_of(args[0]).reaching(dim)
    pieces = _share(r, shape.at(dim), size) if size == step else Dim()
    return r.tensor(shape.replaced(dim, pieces).inserted(-1, r.dim(size)), kind_of(args[0]))


def _folded(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    shape, sides = r.shape_of(args[0]).of_rank(3), [r.dim(size) for size in _pair(args[1])]
    return r.tensor(closed(shape.at(0), _share(r, shape.at(1), math.prod(_pair(args[2]))), *sides), Kind("float32"))


def _pair(value: Any) -> list[int]:
    return [*value] if isinstance(value, tuple | list) else [value, value]


SAMPLED: dict[str, Handler] = {
    **by(_by_grid, "grid_sample grid_sampler grid_sampler_2d grid_sampler_3d"),
    **by(_affine, "affine_grid"),
    **by(_shuffled, "pixel_shuffle"),
    **by(_unshuffled, "pixel_unshuffle"),
    **by(_unfolded, "unfold"),
    **by(_folded, "fold"),
}
