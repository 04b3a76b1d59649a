"""What rarer calls of PyTorch take and return that join, take apart and rearrange tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.target.inference.symbolic.elements import broadcast
from modeldiagrams.target.inference.symbolic.operands import Args, Kwargs, argument, by, kind_of, numbers_in
from modeldiagrams.target.inference.symbolic.shapes import Dim, closed, same
from modeldiagrams.target.inference.symbolic.views import VIEWS

if TYPE_CHECKING:
    from modeldiagrams.target.inference.symbolic.tensors import Handler, Reading

__all__ = ["REARRANGED"]


def _unflattened(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x.unflatten(1, (heads, -1))``."""
    dim, sizes = argument(args, kwargs, 1, "dim"), numbers_in(args[2:] or [kwargs["sizes"]])
    shape = r.shape_of(args[0]).reaching(dim)
    new = [Dim() if size == -1 else r.dim(size) for size in sizes]
    r.products.add(closed(shape.at(dim)), closed(*new))
    return r.tensor(shape.replaced(dim, *new), kind_of(args[0]))


def _narrowed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """So many items from one on, which inputs may say."""
    dim, start, length = (argument(args, kwargs, at, name) for at, name in ((1, "dim"), (2, "start"), (3, "length")))
    for value, few in ((start, 1), (length, 2)):
        if isinstance(value, Tensor):
            same(r.dim(value), Dim(few))
    return r.tensor(r.shape_of(args[0]).reaching(dim).replaced(dim, r.dim(length)), kind_of(args[0]))


def _one_of(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    dim, at = argument(args, kwargs, 1, "dim"), argument(args, kwargs, 2, "index")
    shape = r.shape_of(args[0]).reaching(dim)
    r.takes_item(shape.at(dim), at)
    return r.tensor(shape.replaced(dim), kind_of(args[0]))


def _raveled(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    rank = r.shape_of(args[0]).rank
    return r.tensor(closed(r.equations.product(r.shape_of(args[0]).front) if rank else Dim()), kind_of(args[0]))


def _moved(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """One dimension, or several, elsewhere."""
    source, to = (numbers_in([argument(args, kwargs, at, name)]) for at, name in ((1, "source"), (2, "destination")))
    shape = r.shape_of(args[0])
    least = max(-at if at < 0 else at + 1 for at in (*source, *to))
    rank = shape.rank or max(least, len(shape.dims()))
    dims, taken = [*shape.of_rank(rank).front], [at % rank for at in source]
    left = [dim for at, dim in enumerate(dims) if at not in taken]
    for place, at in sorted((place % rank, at) for place, at in zip(to, taken, strict=True)):
        left.insert(place, dims[at])
    return r.tensor(closed(*left), kind_of(args[0]))


def _joined(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``hstack``: vectors one after the other, of all others the second dimensions."""
    parts = [*args[0]]
    dim = 0 if any(r.shape_of(part).rank == 1 for part in parts) else 1
    return VIEWS["cat"](r, (parts, dim), {})


def _reshaped_as(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[1]), kind_of(args[0]))


def _broadcast_all(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    several = args[0] if args and isinstance(args[0], tuple | list) else args
    shape = r.shape_of(several[0])
    for each in several[1:]:
        shape = broadcast(r, shape, r.shape_of(each))
    return tuple(r.tensor(shape, kind_of(each)) for each in several)


def _grids(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``meshgrid``: a dimension of each."""
    several = args[0] if args and isinstance(args[0], tuple | list) else args
    dims = [r.shape_of(each).of_rank(1).at(0) if isinstance(each, Tensor) else Dim(1) for each in several]
    if kwargs.get("indexing") == "xy" and len(dims) > 1:
        dims[:2] = dims[1::-1]
    return tuple(r.tensor(closed(*dims), kind_of(each)) for each in several)


def _diagonal(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    first, second = argument(args, kwargs, 2, "dim1", 0), argument(args, kwargs, 3, "dim2", 1)
    shape = r.shape_of(args[0]).reaching(first).reaching(second)
    same(side := shape.at(first), shape.at(second))
    for dim in sorted((first, second), reverse=first >= 0):
        shape = shape.replaced(dim)
    return r.tensor(shape.inserted(-1, side), kind_of(args[0]))


def _as_diagonal(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0]).reaching(-1)
    return r.tensor(shape.inserted(-1, shape.at(-1)), kind_of(args[0]))


REARRANGED: dict[str, Handler] = {
    **by(_unflattened, "unflatten"),
    **by(_narrowed, "narrow"),
    **by(_one_of, "select"),
    **by(_raveled, "ravel"),
    **by(_moved, "movedim moveaxis"),
    **by(_joined, "hstack"),
    **by(_reshaped_as, "reshape_as"),
    **by(_broadcast_all, "broadcast_tensors"),
    **by(_grids, "meshgrid"),
    **by(_diagonal, "diagonal"),
    **by(_as_diagonal, "diag_embed"),
    **by(VIEWS["chunk"], "tensor_split"),
    **by(VIEWS["expand"], "broadcast_to"),
    **by(VIEWS["cat"], "vstack"),
}
