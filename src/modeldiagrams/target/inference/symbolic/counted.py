"""What calls of PyTorch take and return that find, count and choose: how many there will be, only values tell."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from modeldiagrams.target.inference.symbolic.operands import Args, Kwargs, argument, as_float, by, ids_below, kind_of
from modeldiagrams.target.inference.symbolic.shapes import Dim, closed, unified
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading

__all__ = ["COUNTED"]

_UNKNOWN_RANK = 2


def _several(r: Reading, kind: Kind) -> Any:
    return r.tensor(closed(Dim()), kind)


def _places(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Where a tensor isn't zero: rows of places, or the places along each dimension."""
    rank = r.shape_of(args[0]).rank
    if argument(args, kwargs, 1, "as_tuple", default=False):
        found = Dim()
        return tuple(r.tensor(closed(found), Kind("int64")) for _ in range(rank or _UNKNOWN_RANK))
    return r.tensor(closed(Dim(), Dim(rank or 0)), Kind("int64"))


def _masked_select(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    kind_of(args[1]).become("bool")
    return _several(r, kind_of(args[0]))


def _unique(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """The items, and as asked, which of them each is, and how often there is each."""
    values = _several(r, kind_of(args[0]))
    more = [r.tensor(r.shape_of(args[0]), Kind("int64"))] if kwargs.get("return_inverse") else []
    more += [r.tensor(r.shape_of(values), Kind("int64"))] if kwargs.get("return_counts") else []
    return (values, *more) if more else values


def _bincount(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    ids_below(args[0])
    r.shape_of(args[0]).of_rank(1)
    return _several(r, Kind("int64"))


def _bucketed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[0]), Kind("int64"))


def _searched(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Where values belong in sorted rows, of which there is one for all, or one for each row of values."""
    among, values = args[0], argument(args, kwargs, 1, "input")
    as_float(among)
    as_float(values)
    if not isinstance(values, Tensor):
        return r.scalar()
    if r.shape_of(among).rank != 1:
        unified(r.shape_of(among).reaching(-1).replaced(-1), r.shape_of(values).reaching(-1).replaced(-1))
    return r.tensor(r.shape_of(values), Kind("int64"))


def _drawn(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``multinomial``: so many of each row."""
    as_float(args[0])
    count = argument(args, kwargs, 1, "num_samples")
    return r.tensor(r.shape_of(args[0]).reaching(-1).replaced(-1, r.dim(count)), Kind("int64"))


COUNTED: dict[str, Handler] = {
    **by(_places, "nonzero argwhere"),
    **by(_masked_select, "masked_select"),
    **by(_unique, "unique unique_consecutive _unique2 _return_output _return_inverse _return_counts"),
    **by(_bincount, "bincount"),
    **by(_bucketed, "bucketize"),
    **by(_searched, "searchsorted"),
    **by(_drawn, "multinomial"),
}
