"""What calls of PyTorch take and return that reckon with vectors and matrices as a whole."""

from __future__ import annotations

from typing import Any

from modeldiagrams.target.inference.symbolic.elements import broadcast, reduced
from modeldiagrams.target.inference.symbolic.layers import LAYERS
from modeldiagrams.target.inference.symbolic.operands import Args, Kwargs, argument, as_float, by
from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, same, unified
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading

__all__ = ["ALGEBRA"]

_OF_CROSS = 3


def _float(r: Reading, shape: Shape) -> Any:
    return r.tensor(shape, Kind("float32"))


def _vectors(r: Reading, args: Args) -> list[Dim]:
    for value in args[:2]:
        as_float(value)
    return [r.shape_of(value).of_rank(1).at(0) for value in args[:2]]


def _dot(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    same(*_vectors(r, args))
    return r.scalar()


def _outer(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return _float(r, closed(*_vectors(r, args)))


def _mv(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    r.shape_of(args[1]).of_rank(1)
    return LAYERS["matmul"](r, args, kwargs)


def _added_product(name: str) -> Handler:
    """``addmm(bias, a, b)``."""

    def added(r: Reading, args: Args, kwargs: Kwargs) -> Any:
        as_float(args[0])
        made = LAYERS[name](r, args[1:3], {})
        return _float(r, broadcast(r, r.shape_of(made), r.shape_of(args[0])))

    return added


def _cross(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Of vectors in space, which are the last dimension unless code says otherwise."""
    dim = argument(args, kwargs, 2, "dim")
    for value in args[:2]:
        as_float(value)
        same(r.shape_of(value).reaching(-1 if dim is None else dim).at(-1 if dim is None else dim), Dim(_OF_CROSS))
    return _float(r, broadcast(r, *(r.shape_of(value) for value in args[:2])))


def _similarity(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """How alike two tensors are, along a dimension."""
    for value in args[:2]:
        as_float(value)
    both = r.tensor(broadcast(r, *(r.shape_of(value) for value in args[:2])))
    return reduced(r, (both,), {"dim": argument(args, kwargs, 2, "dim", 1)})


def _apart(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """How far the last dimensions of two tensors are from each other."""
    for value in args[:2]:
        as_float(value)
    both = r.tensor(broadcast(r, *(r.shape_of(value) for value in args[:2])))
    return reduced(r, (both,), {"dim": -1, "keepdim": kwargs.get("keepdim", False)})


def _square(r: Reading, value: Any) -> Shape:
    as_float(value)
    shape = r.shape_of(value).reaching(-2)
    same(shape.at(-1), shape.at(-2))
    return shape


def _determinant(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return _float(r, _square(r, args[0]).replaced(-1).replaced(-1))


def _own_values(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``eigh``: numbers and vectors of square matrices."""
    shape = _square(r, args[0])
    return _float(r, shape.replaced(-1)), _float(r, shape)


def _singular(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``svd``, of which matrices are mostly square or tall."""
    as_float(args[0])
    shape = r.shape_of(args[0]).reaching(-2)
    rows, columns = shape.at(-2), shape.at(-1)
    least = Dim(min(rows.end().value, columns.end().value)) if rows.end().value else columns
    made = (rows, least), (least,), (least, columns)
    return tuple(_float(r, shape.replaced(-1).replaced(-1, *dims)) for dims in made)


def _solved(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = _square(r, args[0])
    as_float(args[1])
    right = r.shape_of(args[1]).reaching(-2)
    unified(right.replaced(-1), shape.replaced(-1))
    return _float(r, r.shape_of(args[1]))


ALGEBRA: dict[str, Handler] = {
    **by(_dot, "dot vdot"),
    **by(_outer, "outer ger"),
    **by(_mv, "mv"),
    **by(_added_product("mm"), "addmm"),
    **by(_added_product("bmm"), "baddbmm"),
    **by(_cross, "cross linalg_cross"),
    **by(_similarity, "cosine_similarity"),
    **by(_apart, "pairwise_distance"),
    **by(_determinant, "det linalg_det logdet"),
    **by(_own_values, "linalg_eigh"),
    **by(_singular, "svd linalg_svd"),
    **by(_solved, "linalg_solve"),
    **by(LAYERS["matmul"], "linalg_matmul"),
}
