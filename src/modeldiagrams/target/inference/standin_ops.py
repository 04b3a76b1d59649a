"""What calls of PyTorch take and give, for `standins`: shapes and dtypes by the name of the function."""

from __future__ import annotations

import itertools
from typing import Any

from torch import Tensor

from modeldiagrams.target.inference.shapes import Dim, Shape, closed, same, unified
from modeldiagrams.target.inference.standins import Handler, Kind, Reading, Size, Standin

__all__ = ["HANDLERS", "as_float", "ids_below"]

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def _kind(value: Any) -> Kind:
    return value.kind if isinstance(value, Standin) else Kind()


def as_float(value: Any) -> None:
    """Note that an operand holds numbers that aren't whole."""
    if isinstance(value, Standin):
        value.kind.become("float32")


def ids_below(value: Any, high: int = 0) -> None:
    """Note that an operand chooses among so many things."""
    if isinstance(value, Standin):
        value.kind.become("int64", high)


def _given(args: Args, kwargs: Kwargs, at: int, name: str, default: Any = None) -> Any:
    return args[at] if len(args) > at else kwargs.get(name, default)


def _numbers(values: Any) -> list[Any]:
    flat = [item for value in values for item in (value if isinstance(value, tuple | list) else [value])]
    return [value for value in flat if isinstance(value, int)]


def _same_shape(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Functions of each element."""
    return r.tensor(r.shape_of(args[0]), Kind())


def _kept(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Functions that change nothing that matters here."""
    return r.tensor(r.shape_of(args[0]), _kind(args[0])) if isinstance(args[0], Tensor) else args[0]


def _float_kept(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    return r.tensor(r.shape_of(args[0]), Kind("float32"))


def _reached(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """The same shape, which has a dimension that is named."""
    dim = _given(args, kwargs, 1, "dim")
    shape = r.shape_of(args[0])
    as_float(args[0])
    return r.tensor(shape.reaching(dim) if isinstance(dim, int) else shape, Kind("float32"))


def _pointwise(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Operands that are combined element by element."""
    a, b = args[0], args[1] if len(args) > 1 else kwargs.get("other")
    tensors = [value for value in (a, b) if isinstance(value, Tensor)]
    if len(tensors) < 2:  # noqa: PLR2004
        return r.tensor(r.shape_of(tensors[0]), Kind() if isinstance(b, float) else _kind(tensors[0]))
    return r.tensor(broadcast(r.shape_of(a), r.shape_of(b)), Kind())


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of what two operands are combined to; sizes of 1 suit any."""
    a, b = a.end(), b.end()
    if a.row and b.row:
        if any(dim.value == 1 for dim in (*a.dims(), *b.dims())):
            return a if len(a.dims()) >= len(b.dims()) else b
        return unified(a, b)
    if a.row or b.row:
        known, open_ = (b, a) if a.row else (a, b)
        if len(open_.dims()) > len(known.front):  # of fewer dimensions: those at the back are the same
            for dim, at in zip(reversed(known.front), itertools.count(-1, -1), strict=False):
                _alike(dim, open_.at(at))
            return open_
        if all(dim.value == 1 for dim in known.front):
            return open_
        open_ = open_.of_rank(len(known.front))
        a, b = open_, known
    long, short = (a, b) if len(a.front) >= len(b.front) else (b, a)
    found = [*long.front]
    for at in range(1, len(short.front) + 1):
        found[-at] = _alike(long.front[-at], short.front[-at])
    return closed(*found)


def _alike(a: Dim, b: Dim) -> Dim:
    a, b = a.end(), b.end()
    if 1 in (a.value, b.value):
        return b if a.value == 1 else a
    same(a, b)
    return a.end()


def _compared(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    found = _pointwise(r, args, kwargs)
    kinds = [_kind(value) for value in args if isinstance(value, Standin)]
    if len(kinds) == 2:  # noqa: PLR2004
        kinds[0].join(kinds[1])
    found.__dict__["kind"] = Kind("bool")
    return found


def _inverted(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    _kind(args[0]).become("bool")
    return r.tensor(r.shape_of(args[0]), Kind("bool"))


def _masked(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    x, mask = args[0], _given(args, kwargs, 1, "mask")
    _kind(mask).become("bool")
    return r.tensor(broadcast(r.shape_of(x), r.shape_of(mask)), _kind(x))


def _where(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    _kind(args[0]).become("bool")
    shape = r.shape_of(args[0])
    for value in args[1:3]:
        if isinstance(value, Tensor):
            shape = broadcast(shape, r.shape_of(value))
    return r.tensor(shape)


def _cast(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Another dtype: what it was before stays open."""
    to_tensor = [value for value in args[1:] if isinstance(value, Standin)]
    return r.tensor(r.shape_of(args[0]), to_tensor[0].kind if to_tensor else Kind())


def _moved(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x.to(device)`` keeps the dtype, ``x.to(dtype)`` doesn't."""
    others = [*args[1:], *kwargs.values()]
    is_cast = any(isinstance(value, Tensor) or type(value).__name__ == "dtype" for value in others)
    return _cast(r, (args[0],), {}) if is_cast else _kept(r, args, kwargs)


def _linear(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    x, weight = args[0], _given(args, kwargs, 1, "weight")
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
        x, weight = args[0], _given(args, kwargs, 1, "weight")
        groups = _given(args, kwargs, 7 if is_transposed else 6, "groups", 1)
        first, second = (dim.value for dim in r.shape_of(weight).front[:2])
        taken, made = (first, second * groups) if is_transposed else (second * groups, first)
        as_float(x)
        shape = r.shape_of(x).of_rank(2 + dimensions)
        same(shape.at(1), Dim(taken))
        return r.tensor(closed(shape.at(0), Dim(made), *(Dim() for _ in range(dimensions))), Kind("float32"))

    return convolved


def _pooled(dimensions: int) -> Handler:
    def pooled(r: Reading, args: Args, kwargs: Kwargs) -> Any:
        shape = r.shape_of(args[0]).of_rank(2 + dimensions)
        return r.tensor(closed(*shape.front[:2], *(Dim() for _ in range(dimensions))), _kind(args[0]))

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
    ids, weight = args[0], _given(args, kwargs, 1, "weight")
    table = r.shape_of(weight)
    ids_below(ids, table.at(0).value)
    return r.tensor(r.shape_of(ids).inserted(-1, table.at(1)), Kind("float32"))


def _one_hot(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    count = _given(args, kwargs, 1, "num_classes", -1)
    ids_below(args[0], count if count > 0 else 0)
    return r.tensor(r.shape_of(args[0]).inserted(-1, r.dim(count) if count > 0 else Dim()), Kind("int64"))


def _normalized_last(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    sizes = _given(args, kwargs, 1, "normalized_shape") or ()
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
    a, b = a.reaching(-1), b.reaching(-2)
    same(a.at(-1), b.at(-2))
    if a.rank and a.rank == b.rank:
        for at in range(a.rank - 2):
            _alike(a.at(at), b.at(at))
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


def _cat(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    parts, dim = [*(args[0] if args else kwargs["tensors"])], _given(args, kwargs, 1, "dim", 0)
    shapes = [r.shape_of(part) for part in parts]
    rank = next((shape.rank for shape in shapes if shape.rank), 2 if dim == 1 and _are_rows(shapes) else None)
    shapes = [shape.of_rank(rank) for shape in shapes] if rank else shapes
    shapes = [shape.reaching(dim) for shape in shapes]
    apart = [shape.replaced(dim) for shape in shapes]
    for other in apart[1:]:
        unified(apart[0], other)
    for part in parts[1:]:
        _kind(parts[0]).join(_kind(part))
    dims = [shape.at(dim).end() for shape in shapes]
    whole = Dim(sum(dim.value for dim in dims) if all(dim.value for dim in dims) else 0)
    if not whole.value:
        r.equations.add(whole, {each: dims.count(each) for each in dims})
    return r.tensor(shapes[0].replaced(dim, whole), _kind(parts[0]))


def _are_rows(shapes: list[Shape]) -> bool:
    """Whether all may be rows of features: nothing more is known of them."""
    ends = [shape.end() for shape in shapes]
    return all(len(end.front) <= 2 and len(end.back) <= 1 for end in ends) and any(  # noqa: PLR2004
        end.back or not end.front for end in ends
    )


def _stack(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    parts, dim = [*(args[0] if args else kwargs["tensors"])], _given(args, kwargs, 1, "dim", 0)
    shapes = [r.shape_of(part) for part in parts]
    for other in shapes[1:]:
        unified(shapes[0], other)
    return r.tensor(shapes[0].inserted(dim, Dim(len(parts))), _kind(parts[0]))


def _transposed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    first, second = _given(args, kwargs, 1, "dim0"), _given(args, kwargs, 2, "dim1")
    shape = r.shape_of(args[0]).reaching(first).reaching(second)
    a, b = shape.at(first), shape.at(second)
    return r.tensor(shape.replaced(first, b).replaced(second, a), _kind(args[0]))


def _permuted(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    order = _numbers(args[1:] or [kwargs["dims"]])
    shape = r.shape_of(args[0]).of_rank(len(order))
    return r.tensor(closed(*(shape.front[at] for at in order)), _kind(args[0]))


def _t(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return _permuted(r, (args[0], 1, 0), {})


def _flattened(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    start, end = _given(args, kwargs, 1, "start_dim", 0), _given(args, kwargs, 2, "end_dim", -1)
    shape = r.shape_of(args[0]).reaching(start)
    shape = shape.reaching(end) if end >= 0 else shape
    rank = shape.rank
    if rank is None and end == -1:
        return r.tensor(closed(*shape.front[:start], Dim()), _kind(args[0]))
    first, last = (start % rank, end % rank) if rank else (start, end)
    joined = _product(r, shape.front[first : last + 1])
    new = (*shape.front[:first], joined, *shape.front[last + 1 :])
    return r.tensor(Shape(new, shape.row, shape.back), _kind(args[0]))


def _product(r: Reading, dims: tuple[Dim, ...]) -> Dim:
    """As many elements as all these dimensions have, where at most one of them is not known."""
    times, unknown = 1, []
    for dim in dims:
        times *= dim.end().value or 1
        unknown += [] if dim.end().value else [dim.end()]
    if not unknown:
        return Dim(times)
    whole = Dim()
    if len(unknown) == 1:
        r.equations.add(whole, {unknown[0]: times})
    return whole


def _viewed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    sizes = _numbers(args[1:])
    new = [Dim() if size == -1 else r.dim(size) for size in sizes]
    before = r.shape_of(args[0])
    if before.rank and -1 not in sizes:
        left, right = [dim.end() for dim in before.front], [dim.end() for dim in new]
        while left and right and left[0] is right[0]:
            left, right = left[1:], right[1:]
        if len(left) == 1 and len(right) != 1:
            same(left[0], _product(r, tuple(right)))
        if len(right) == 1 and len(left) != 1:
            same(right[0], _product(r, tuple(left)))
    return r.tensor(closed(*new), _kind(args[0]))


def _unsqueezed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[0]).inserted(_given(args, kwargs, 1, "dim"), Dim(1)), _kind(args[0]))


def _squeezed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    dim = _given(args, kwargs, 1, "dim")
    if not isinstance(dim, int):
        return r.tensor(None, _kind(args[0]))
    shape = r.shape_of(args[0]).reaching(dim)
    if shape.at(dim).end().value not in (0, 1):
        return r.tensor(shape, _kind(args[0]))
    same(shape.at(dim), Dim(1))
    return r.tensor(shape.replaced(dim), _kind(args[0]))


def _reduced(r: Reading, args: Args, kwargs: Kwargs, default: Any = None) -> Any:
    dims = kwargs.get("dim", args[1] if len(args) > 1 and not isinstance(args[1], Tensor) else default)
    dims = [dims] if isinstance(dims, int) else dims
    if not dims:
        return r.scalar()
    keeps = kwargs.get("keepdim", any(value is True for value in args[2:]))
    shape = r.shape_of(args[0])
    for dim in dims:
        shape = shape.reaching(dim)
    for dim in sorted(dims, reverse=dims[0] >= 0):
        shape = shape.replaced(dim, *((Dim(1),) if keeps else ()))
    return r.tensor(shape, Kind())


def _averaged(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    return _reduced(r, args, kwargs)


class _Pair(tuple[Any, ...]):  # noqa: SLOT001
    """What functions give that return values and their places."""

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def _with_indices(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    if len(args) > 1 and isinstance(args[1], Tensor):
        return _pointwise(r, args, kwargs)
    if "dim" not in kwargs and (len(args) == 1 or not isinstance(args[1], int)):
        return _reduced(r, args, kwargs)
    values, places = _reduced(r, args, kwargs), _reduced(r, args, kwargs)
    places.kind.become("int64")
    return _Pair((values, places))


def _sorted(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0])
    return _Pair((r.tensor(shape, _kind(args[0])), r.tensor(shape, Kind("int64"))))


def _topk(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0]).replaced(_given(args, kwargs, 2, "dim", -1), r.dim(_given(args, kwargs, 1, "k")))
    return _Pair((r.tensor(shape, _kind(args[0])), r.tensor(shape, Kind("int64"))))


def _chunked(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    count, dim = _given(args, kwargs, 1, "chunks"), _given(args, kwargs, 2, "dim", 0)
    shape = r.shape_of(args[0]).reaching(dim)
    whole = shape.at(dim).end()
    part = Dim(whole.value // count)
    if not part.value:
        r.equations.add(whole, {part: count})
    return tuple(r.tensor(shape.replaced(dim, part), _kind(args[0])) for _ in range(count))


def _split(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    sizes, dim = args[1] if len(args) > 1 else [*kwargs.values()][0], _given(args, kwargs, 2, "dim", 0)
    shape = r.shape_of(args[0]).reaching(dim)
    if isinstance(sizes, int):
        count = shape.at(dim).end().value // sizes
        return tuple(r.tensor(shape.replaced(dim, r.dim(sizes)), _kind(args[0])) for _ in range(count or 2))
    if not any(isinstance(size, Size) for size in sizes):
        same(shape.at(dim), Dim(sum(sizes)))
    return tuple(r.tensor(shape.replaced(dim, r.dim(size)), _kind(args[0])) for size in sizes)


def _unbound(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    dim = _given(args, kwargs, 1, "dim", 0)
    shape = r.shape_of(args[0]).reaching(dim)
    return tuple(r.tensor(shape.replaced(dim), _kind(args[0])) for _ in range(shape.at(dim).end().value or 3))


def _expanded(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    sizes = _numbers(args[1:])
    before = r.shape_of(args[0])
    known = before.front if before.rank == len(sizes) else ()
    new = [
        (known[at] if known else Dim()) if size == -1 else r.dim(size) for at, size in enumerate(sizes)
    ]
    return r.tensor(closed(*new), _kind(args[0]))


def _expanded_as(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[1]), _kind(args[0]))


def _made_like(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[0]), Kind("float32"))


def _made_new(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(closed(*(r.dim(size) for size in _numbers(args[1:]))), Kind("float32"))


def _indexed_along(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``gather``, ``scatter``: an index of the same rank."""
    values = [*args[1:], *kwargs.values()]
    dim = next((value for value in values if isinstance(value, int)), 0)
    index = next((value for value in values if isinstance(value, Tensor)), None)
    ids_below(index, r.shape_of(args[0]).reaching(dim).at(dim).end().value)
    rank = r.shape_of(args[0]).rank
    shape = r.shape_of(index)
    return r.tensor(shape.of_rank(rank) if rank else shape, _kind(args[0]))


def _selected(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``index_select``, ``index_add``: an index of one dimension."""
    values = [*args[1:], *kwargs.values()]
    dim = next((value for value in values if isinstance(value, int)), 0)
    index = next((value for value in values if isinstance(value, Tensor)), None)
    shape = r.shape_of(args[0]).reaching(dim)
    ids_below(index, shape.at(dim).end().value)
    chosen = r.shape_of(index).of_rank(1)
    return r.tensor(shape.replaced(dim, chosen.at(0)), _kind(args[0]))


def _added_at(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    _selected(r, args, kwargs)
    return r.tensor(r.shape_of(args[0]), _kind(args[0]))


def _item(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x[key]``."""
    x, key = args[0], args[1]
    keys = [*key] if isinstance(key, tuple) else [key]
    shape, kind = r.shape_of(x), _kind(x)
    if Ellipsis in [each for each in keys if not isinstance(each, Tensor)]:
        at = next(at for at, each in enumerate(keys) if each is Ellipsis)
        shape = _taken(r, shape, keys[:at])
        return r.tensor(_taken_back(r, shape, keys[at + 1 :]), kind)
    if keys[-1] is None and shape.rank is None:  # nobody adds dimensions in the middle like this
        shape = shape.of_rank(sum(each is not None for each in keys))
    if not isinstance(x, Standin) and any(isinstance(each, Standin) for each in keys):
        return _looked_up(r, shape, keys)
    return r.tensor(_taken(r, shape, keys), kind)


def _looked_up(r: Reading, shape: Shape, keys: list[Any]) -> Any:
    """A table of the model's own by ids."""
    for each, dim in zip(keys, shape.front, strict=False):
        ids_below(each, dim.value)
    return r.tensor(_taken(r, shape, keys), Kind())


def _taken(r: Reading, shape: Shape, keys: list[Any]) -> Shape:
    """Items by keys, from the front."""
    at = 0
    for key in keys:
        match key:
            case None:
                shape, at = shape.inserted(at, Dim(1)), at + 1
            case Tensor():
                shape, at = _chosen(r, shape, key, at)
            case slice():
                shape, at = shape.replaced(at, _sliced(r, shape.reaching(at).at(at), key)), at + 1
            case int():
                dim = shape.reaching(at).at(at).end()
                dim.least = max(dim.least, key + 1)
                shape = shape.replaced(at)
            case _:
                shape, at = shape.replaced(at, Dim()), at + 1
    return shape


def _chosen(r: Reading, shape: Shape, index: Any, at: int) -> tuple[Shape, int]:
    """Items by the numbers in a tensor, or those where a mask is true."""
    kind = _kind(index)
    if kind.end().dtype == "bool" or not isinstance(index, Standin) and str(index.dtype) == "torch.bool":
        chosen = r.shape_of(index)
        rank = chosen.rank or 1
        for more in range(rank):
            same(shape.reaching(at + more).at(at + more), chosen.of_rank(rank).at(more))
        for _ in range(rank - 1):
            shape = shape.replaced(at)
        return shape.replaced(at, Dim()), at + 1
    ids_below(index, shape.reaching(at).at(at).end().value)
    chosen = r.shape_of(index)
    if chosen.rank is None:
        chosen = chosen.of_rank(max(1, len(chosen.dims())))
    return shape.replaced(at, *chosen.front), at + len(chosen.front)


def _taken_back(r: Reading, shape: Shape, keys: list[Any]) -> Shape:
    """Items by keys, from the back."""
    at = -1
    for key in reversed(keys):
        match key:
            case None:
                shape, at = shape.inserted(at, Dim(1)), at - 1
            case slice():
                shape, at = shape.replaced(at, _sliced(r, shape.reaching(at).at(at), key)), at - 1
            case int():
                dim = shape.reaching(at).at(at).end()
                dim.least = max(dim.least, key + 1)
                shape = shape.replaced(at)
            case _:
                shape, at = shape.replaced(at, Dim()), at - 1
    return shape


def _sliced(r: Reading, dim: Dim, key: slice) -> Dim:
    if key == slice(None):
        return dim
    stop = key.stop
    if isinstance(stop, int) and stop > 0 and key.step is None:
        dim.end().least = max(dim.end().least, stop if not isinstance(stop, Size) else 0)
        return r.dim(stop) if not key.start else Dim(max(0, stop - key.start))
    if isinstance(key.start, int) and stop is None and key.start > 0 and not isinstance(key.start, Size):
        rest = Dim()
        r.equations.add(dim, {rest: 1}, key.start)
        return rest
    return Dim()


def _packed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    x, lengths = args[0], args[1]
    if isinstance(lengths, Standin):
        lengths.kind.become("int64")
        lengths.kind.end().is_length = True
        lengths.known.of_rank(1)
    shape = r.shape_of(x).of_rank(3)
    return r.tensor(closed(Dim(), shape.at(2)), _kind(x)), r.tensor(closed(Dim()), Kind("int64"))


def _unpacked(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    features = r.shape_of(args[0]).at(-1)
    return r.tensor(closed(Dim(), Dim(), features), Kind("float32")), r.tensor(closed(Dim()), Kind("int64"))


def _loss(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    ids_below(args[1])
    return r.scalar()


def _resized(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0])
    as_float(args[0])
    rank = shape.rank or 4
    shape = shape.of_rank(rank)
    return r.tensor(closed(*shape.front[:2], *(Dim() for _ in range(rank - 2))), Kind("float32"))


def _padded(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0])
    for at in range(1, len(args[1]) // 2 + 1):
        if any(args[1][2 * at - 2 : 2 * at]):
            new = Dim()
            r.equations.add(new, {shape.reaching(-at).at(-at).end(): 1}, sum(args[1][2 * at - 2 : 2 * at]))
            shape = shape.replaced(-at, new)
    return r.tensor(shape, _kind(args[0]))


def _attended(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    query, key, value = (r.shape_of(each).reaching(-2) for each in args[:3])
    same(query.at(-1), key.at(-1))
    same(key.at(-2), value.at(-2))
    return r.tensor(query.replaced(-1, value.at(-1)), Kind("float32"))


def _by(handler: Handler, names: str) -> dict[str, Handler]:
    return dict.fromkeys(names.split(), handler)


HANDLERS: dict[str, Handler] = {
    **_by(_pointwise, "add sub mul div true_divide __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ "),
    **_by(_pointwise, "__rtruediv__ __iadd__ __isub__ __imul__ __itruediv__ rsub maximum minimum atan2 lerp fmod"),
    **_by(_compared, "__eq__ __ne__ __lt__ __gt__ __le__ __ge__ eq ne lt gt le ge isin"),
    **_by(_inverted, "__invert__ logical_not bitwise_not"),
    **_by(_masked, "masked_fill masked_scatter"),
    **_by(_where, "where"),
    **_by(_cast, "float long int bool half double bfloat16 type type_as"),
    **_by(_moved, "to"),
    **_by(_kept, "contiguous clone detach cuda cpu requires_grad dropout alpha_dropout feature_dropout clamp abs neg "),
    **_by(_kept, "__neg__ flip roll alias clamp_min clamp_max zero"),
    **_by(_float_kept, "relu gelu silu tanh sigmoid leaky_relu elu softplus hardtanh relu6 mish selu exp log sqrt "),
    **_by(_float_kept, "rsqrt sin cos normalize logsigmoid dropout1d dropout2d dropout3d hardswish hardsigmoid erf"),
    **_by(_same_shape, "pow __pow__ square nan_to_num isnan isfinite floor round sign log1p expm1 __floordiv__ __mod__"),
    **_by(_reached, "softmax log_softmax cumsum cumprod softmin glu_"),
    **_by(_linear, "linear"),
    **_by(_bilinear, "bilinear"),
    **{f"conv{n}d": _convolution(n) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _convolution(n, is_transposed=True) for n in (1, 2, 3)},
    **{f"{kind}_pool{n}d": _pooled(n) for n in (1, 2, 3) for kind in ("max", "avg", "lp")},
    **{f"_{kind}_pool{n}d": _pooled(n) for n in (1, 2, 3) for kind in ("max", "avg")},
    **{f"adaptive_{kind}_pool{n}d": _adaptive(n) for n in (1, 2, 3) for kind in ("max", "avg")},
    **_by(_embedding, "embedding"),
    **_by(_one_hot, "one_hot"),
    **_by(_normalized_last, "layer_norm rms_norm"),
    **_by(_normalized_channels(1), "batch_norm instance_norm"),
    **_by(_normalized_channels(2), "group_norm"),
    **_by(_matmul, "matmul __matmul__ __rmatmul__"),
    **_by(_bmm, "bmm"),
    **_by(_mm, "mm spmm"),
    **_by(_einsum, "einsum"),
    **_by(_cat, "cat concat concatenate"),
    **_by(_stack, "stack"),
    **_by(_transposed, "transpose swapaxes swapdims"),
    **_by(_permuted, "permute"),
    **_by(_t, "t"),
    **_by(_flattened, "flatten"),
    **_by(_viewed, "view reshape"),
    **_by(_unsqueezed, "unsqueeze"),
    **_by(_squeezed, "squeeze"),
    **_by(_reduced, "sum amax amin argmax argmin any all prod logsumexp"),
    **_by(_averaged, "mean std var norm"),
    **_by(_with_indices, "max min"),
    **_by(_sorted, "sort"),
    **_by(_topk, "topk"),
    **_by(_chunked, "chunk"),
    **_by(_split, "split"),
    **_by(_unbound, "unbind"),
    **_by(_expanded, "expand"),
    **_by(_expanded_as, "expand_as view_as"),
    **_by(_made_like, "zeros_like ones_like randn_like rand_like full_like empty_like"),
    **_by(_made_new, "new_zeros new_ones new_empty new_full"),
    **_by(_indexed_along, "gather scatter scatter_add take_along_dim"),
    **_by(_selected, "index_select"),
    **_by(_added_at, "index_add index_copy index_fill"),
    **_by(_item, "__getitem__"),
    **_by(_packed, "_pack_padded_sequence"),
    **_by(_unpacked, "_pad_packed_sequence"),
    **_by(_loss, "cross_entropy nll_loss"),
    **_by(_resized, "interpolate upsample"),
    **_by(_padded, "pad"),
    **_by(_attended, "scaled_dot_product_attention"),
}
