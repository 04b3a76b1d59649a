"""What calls of PyTorch take and return that work element by element, or reduce.

Long because it is a table of what each call takes.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor, nn

from modeldiagrams.target.inference.symbolic.operands import (
    Args,
    Kwargs,
    argument,
    as_float,
    as_lengths,
    by,
    ids_below,
    kind_of,
    numbers_in,
    of_rows,
)
from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, same, unified
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading, SymbolicTensor

__all__ = ["ELEMENTS", "alike", "broadcast", "reduced"]

_ROWS = 2


_PICTURE = 4
"""Dimensions of a batch of pictures."""


def _same_shape(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Functions of each element."""
    return r.tensor(r.shape_of(args[0]), Kind())


def _kept(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Functions that change nothing that matters here."""
    return r.tensor(r.shape_of(args[0]), kind_of(args[0])) if isinstance(args[0], Tensor) else args[0]


def _float_kept(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    return r.tensor(r.shape_of(args[0]), Kind("float32"))


def _reached(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """The same shape, which has a dimension that is named."""
    dim = argument(args, kwargs, 1, "dim")
    shape = r.shape_of(args[0])
    as_float(args[0])
    if dim == 1 and shape.end().back and shape.end().back[0].end().value > 1:
        shape = of_rows(r, shape)
    return r.tensor(shape.reaching(dim) if isinstance(dim, int) else shape, Kind("float32"))


def pointwise(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Operands that are combined element by element."""
    a, b = args[0], args[1] if len(args) > 1 else kwargs.get("other")
    tensors = [value for value in (a, b) if isinstance(value, Tensor)]
    if len(tensors) < 2:  # noqa: PLR2004
        return r.tensor(r.shape_of(tensors[0]), Kind() if isinstance(b, float) else kind_of(tensors[0]))
    kinds = [kind_of(value).end() for value in tensors]
    kind = kinds[0] if kinds[0] is kinds[1] else Kind(made_of=(kinds[0], kinds[1]))
    is_weight = any(_is_own(r, value) for value in tensors)
    return r.tensor(broadcast(r, r.shape_of(a), r.shape_of(b), is_weight=is_weight), kind)


def _reckoned(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Sums, products and so on of each element."""
    for value in (*args[:2], *kwargs.values()):
        kind_of(value).end().is_reckoned = True
    return pointwise(r, args, kwargs)


def _multiplied(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Products; those of whole numbers are whole, and as large as that only makes them: ``row * width + column``."""
    found = _reckoned(r, args, kwargs)
    if any(type(value) is int for value in args):
        found.__dict__["kind"] = Kind(made_of=tuple(kind_of(value) for value in args[:2]))
    return found


def _is_own(r: Reading, value: Any) -> bool:
    """Whether a tensor is the model's own, and no input tells its sizes."""
    is_plain = not isinstance(value, SymbolicTensor) and not any(size in r.numbers for size in Tensor.size(value))
    return is_plain or isinstance(value, nn.Parameter)


def broadcast(r: Reading, a: Shape, b: Shape, *, is_weight: bool = False) -> Shape:
    """The shape of what two operands are combined to; sizes of 1 suit any."""
    a, b = a.end(), b.end()
    if a.row and b.row:
        return _of_open_ranks(r, a, b)
    if a.row or b.row:
        known, open_ = (b, a) if a.row else (a, b)
        if rank := _rank_by_place(known, open_):
            open_ = open_.of_rank(rank)
        # a weight says nothing of ranks, unless its first dimension stands for the batch
        is_of_features = bool(known.front) and (len(known.front) == 1 or is_weight) and known.front[0].end().value > 1
        if open_.row and (is_of_features or len(open_.dims()) > len(known.front)):  # those at the back are the same
            for dim, at in zip(reversed(known.front), itertools.count(-1, -1), strict=False):
                alike(r, dim, open_.at(at))
            return open_
        if all(dim.value == 1 for dim in known.front):  # ``mean.view(1, -1, 1, 1)`` is for pictures
            return open_.of_rank(max(_PICTURE, len(open_.dims()))) if len(known.front) >= _PICTURE else open_
        if rank or r.guesses.is_usual():
            open_ = open_.of_rank(rank or len(known.front))
        else:
            return _of_one_feature(known, open_)
        a, b = open_, known
    long, short = (a, b) if len(a.front) >= len(b.front) else (b, a)
    found = [*long.front]
    for at in range(1, len(short.front) + 1):
        found[-at] = alike(r, long.front[-at], short.front[-at])
    return closed(*found)


def _of_open_ranks(r: Reading, a: Shape, b: Shape) -> Shape:
    for one, other in ((a, b), (b, a)):
        if _is_of_each_row(one) and len(other.back) == 1 != other.back[0].end().value and r.guesses.is_usual():
            unified(one.replaced(-1), other.replaced(-1))  # ``x * mask.unsqueeze(-1)``
            return other.end()
    ones = [sum(dim.value == 1 for dim in shape.dims()) for shape in (a, b)]
    if any(ones):  # any dimension may be the one that a 1 stands for
        return a if (ones[0], -len(a.dims())) <= (ones[1], -len(b.dims())) else b
    return unified(a, b) if r.guesses.is_usual() else _of_one_feature(a, b)


def _is_of_each_row(shape: Shape) -> bool:
    """Whether all that is known of a shape is that it has one number in place of features."""
    return not shape.front and [dim.end().value for dim in shape.back] == [1]


def _rank_by_place(known: Shape, open_: Shape) -> int:
    """The rank with which a dimension in front is the same that it is combined with; 0 if there is none such."""
    for place, dim in enumerate(open_.front):
        for from_back, other in enumerate(reversed(known.front), 1):
            if dim.end() is other.end() and not dim.end().value and place + from_back >= len(open_.dims()):
                return place + from_back
    return 0


def _of_one_feature(a: Shape, b: Shape) -> Shape:
    """Operands of which the second has one number where the first has features."""
    a, b = a.reaching(-1), b.reaching(-1)
    same(b.at(-1), Dim(1))
    unified(a.replaced(-1), b.replaced(-1))
    return a.end()


def alike(r: Reading, a: Dim, b: Dim) -> Dim:
    """One of two dimensions that are combined: the same, unless one of them is 1."""
    a, b = a.end(), b.end()
    if a is not b and not (a.value and b.value) and not r.guesses.is_usual(a, b):
        one = a if b.value else b
        one.value = 1
    if 1 in (a.value, b.value):
        return b if a.value == 1 else a
    same(a, b)
    return a.end()


def _compared(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    found = pointwise(r, args, kwargs)
    kinds = [kind_of(value) for value in args if isinstance(value, SymbolicTensor)]
    if len(kinds) == 2:  # noqa: PLR2004
        kinds[0].join(kinds[1])
    elif any(isinstance(value, Tensor) and value.dtype == torch.int64 for value in args):  # ``arange(n) < lengths``
        kinds[0].end().is_counted = True
    found.__dict__["kind"] = Kind("bool")
    return found


def _equalled(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """What is the same as a whole number or not is likely whole, too."""
    for value in args[:1] if type(args[-1]) is int else ():
        kind_of(value).end().is_counted = True
    return _compared(r, args, kwargs)


def _inverted(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    kind_of(args[0]).become("bool")
    return r.tensor(r.shape_of(args[0]), Kind("bool"))


def _masked(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    x, mask = args[0], argument(args, kwargs, 1, "mask")
    kind_of(mask).become("bool")
    return r.tensor(broadcast(r, r.shape_of(x), r.shape_of(mask)), kind_of(x))


def _where(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    kind_of(args[0]).become("bool")
    shape, kind = r.shape_of(args[0]), Kind()
    for value in args[1:3]:
        if isinstance(value, Tensor):
            shape = broadcast(r, shape, r.shape_of(value))
            kind.join(kind_of(value))
    return r.tensor(shape, kind)


def _cast(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Another dtype: what it was before stays open."""
    to_tensor = [value for value in args[1:] if isinstance(value, SymbolicTensor)]
    made = to_tensor[0].kind if to_tensor else Kind()
    kind_of(args[0]).end().casts.append(made)
    return r.tensor(r.shape_of(args[0]), made)


def _moved(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x.to(device)`` keeps the dtype, ``x.to(dtype)`` doesn't."""
    others = [*args[1:], *kwargs.values()]
    is_cast = any(isinstance(value, Tensor) or type(value).__name__ == "dtype" for value in others)
    return _cast(r, (args[0],), {}) if is_cast else _kept(r, args, kwargs)


def reduced(r: Reading, args: Args, kwargs: Kwargs, default: Any = None) -> Any:
    """Without the dimensions that a call names; a number if it names none."""
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


def _extreme(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """One of the items, which holds what all hold."""
    found = reduced(r, args, kwargs)
    found.__dict__["kind"] = kind_of(args[0])
    return found


def _averaged(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    return reduced(r, args, kwargs)


class _Pair(tuple[Any, ...]):  # noqa: SLOT001
    """What functions give that return values and their places."""

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def _with_indices(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    if len(args) > 1 and isinstance(args[1], Tensor):
        return pointwise(r, args, kwargs)
    if "dim" not in kwargs and (len(args) == 1 or not isinstance(args[1], int)):
        return _extreme(r, args, kwargs)
    values, places = _extreme(r, args, kwargs), reduced(r, args, kwargs)
    places.kind.become("int64")
    return _Pair((values, places))


def _sorted(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0])
    return _Pair((r.tensor(shape, kind_of(args[0])), r.tensor(shape, Kind("int64", is_order=True))))


def _ordered(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return _sorted(r, args, kwargs)[1]


def _mixed(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``a & b``: of masks, unless one of them is known to hold numbers."""
    kinds = [kind_of(value) for value in args[:2] if isinstance(value, SymbolicTensor)]
    for kind in kinds if not any(kind.end().dtype == "int64" for kind in kinds) else ():
        kind.become("bool")
    found = pointwise(r, args, kwargs)
    found.__dict__["kind"] = kinds[0]
    return found


def _length(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``norm``: of vectors, which rather are rows where it is that of dimension 1."""
    if "dim" not in kwargs and len(args) > 2:  # noqa: PLR2004  (the order comes first)
        kwargs = {**kwargs, "dim": args[2], "keepdim": kwargs.get("keepdim", args[3:4] == (True,))}
    as_float(args[0])
    shape = r.shape_of(args[0]).end()
    if kwargs.get("dim") == 1 and shape.row and len(shape.dims()) <= _ROWS and r.guesses.is_usual():
        shape = shape.of_rank(_ROWS)
    return reduced(r, (r.tensor(shape),), {"dim": kwargs.get("dim"), "keepdim": kwargs.get("keepdim", False)})


def _two_moments(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return _averaged(r, args, kwargs), _averaged(r, args, kwargs)


def _quantile(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return _averaged(r, (args[0],), {"dim": argument(args, kwargs, 2, "dim"), "keepdim": kwargs.get("keepdim", False)})


def _with_places(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``median``, ``mode``, ``kthvalue`` along a dimension, and ``cummax``."""
    return _with_indices(r, args, {"dim": -1, **kwargs} if len(args) == 1 and "dim" not in kwargs else kwargs)


def _differences(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    dim = argument(args, kwargs, 2, "dim", -1)
    return r.tensor(r.shape_of(args[0]).reaching(dim).replaced(dim, Dim()), kind_of(args[0]))


def _gated(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``glu``: one half of a dimension decides on the other."""
    as_float(args[0])
    dim = argument(args, kwargs, 1, "dim", -1)
    whole = (shape := r.shape_of(args[0]).reaching(dim)).at(dim).end()
    half = Dim(whole.value // 2)
    if not half.value:
        r.equations.add(whole, {half: 2})
    return r.tensor(shape.replaced(dim, half), Kind("float32"))


def _compared_loss(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """A loss of numbers and those that they should be."""
    as_float(args[0])
    as_float(args[1])
    shape = broadcast(r, r.shape_of(args[0]), r.shape_of(args[1]))
    return r.tensor(shape, Kind("float32")) if kwargs.get("reduction") == "none" else r.scalar()


def _place(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Where the largest is."""
    return r.tensor(reduced(r, args, kwargs).known, Kind("int64"))


def _topk(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    dim, count = argument(args, kwargs, 2, "dim", -1), argument(args, kwargs, 1, "k")
    shape = r.shape_of(args[0]).reaching(dim)
    if type(count) is int:
        shape.at(dim).needs(count)
    shape = shape.replaced(dim, r.dim(count))
    return _Pair((r.tensor(shape, kind_of(args[0])), r.tensor(shape, Kind("int64"))))


def _made_like(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Of the same dtype, which may be told later."""
    return r.tensor(r.shape_of(args[0]), Kind())


def _noise_like(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[0]), Kind("float32"))


def _made_new(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x.new_zeros(sizes)``: of the same dtype, unless another one is asked for."""
    asked = str(kwargs["dtype"]).removeprefix("torch.") if kwargs.get("dtype") else ""
    sizes = numbers_in(
        args[1:2] if args[1:] and isinstance(args[1], tuple | list) else args[1:] or kwargs.get("size", ())
    )
    return r.tensor(closed(*(r.dim(size) for size in sizes)), Kind(asked) if asked else kind_of(args[0]))


def _made_of(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x.new_tensor(self.offsets)``: of the shape of what it is made of."""
    return r.tensor(closed(*map(Dim, _shape_of_data(args[1]))), kind_of(args[0]))


def _shape_of_data(data: Any) -> tuple[int, ...]:
    """Of a number, a list of numbers, or nested lists of them."""
    if isinstance(data, list | tuple):
        return (len(data), *(_shape_of_data(data[0]) if data else ()))
    return tuple(getattr(data, "shape", ()))


def _inverse(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    as_float(args[0])
    shape = r.shape_of(args[0]).reaching(-2)
    same(shape.at(-1), shape.at(-2))
    return r.tensor(shape, Kind("float32"))


def _distances(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Of each of some places to each of others."""
    as_float(args[0])
    as_float(args[1])
    a, b = (r.shape_of(value).reaching(-2) for value in args[:2])
    same(a.at(-1), b.at(-1))
    unified(a.replaced(-1).replaced(-1), b.replaced(-1).replaced(-1))
    return r.tensor(a.end().replaced(-1, b.end().at(-2)), Kind("float32"))


def _loss(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Of a score for each class, which are dimension 1, and the classes that are right."""
    scores, targets = args[0], argument(args, kwargs, 1, "target")
    as_float(scores)
    shape = r.shape_of(scores)
    if (shape.rank or 0) < _ROWS or kind_of(targets).end().dtype == "float32":
        ids_below(targets)
        return r.scalar()
    ids_below(targets, shape.at(1).end().value)
    each = shape.replaced(1)
    with r.noting():
        unified(each, r.shape_of(targets))
    return r.tensor(each, Kind("float32")) if kwargs.get("reduction") == "none" else r.scalar()


def _aligned(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """The loss of texts that come without places: steps, rows, classes; labels; and how many there are of both."""
    scores, targets, *lengths = (*args, *kwargs.values())[:4]
    as_float(scores)
    steps, rows, classes = r.shape_of(scores).of_rank(3).front
    del steps
    ids_below(targets, classes.end().value)
    same(r.shape_of(targets).of_rank(2).at(0), rows)
    for each in lengths:
        as_lengths(each, rows)
    return r.scalar()


ELEMENTS: dict[str, Handler] = {
    **by(_reckoned, "add sub div true_divide __add__ __radd__ __sub__ __rsub__ __truediv__ "),
    **by(_reckoned, "__rtruediv__ __iadd__ __isub__ __itruediv__ rsub maximum minimum atan2 lerp fmod "),
    **by(_reckoned, "fmax fmin hypot arctan2 xlogy logaddexp subtract divide floor_divide remainder"),
    **by(_multiplied, "mul multiply __mul__ __rmul__ __imul__"),
    **by(_mixed, "__and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ logical_and logical_or logical_xor"),
    **by(_equalled, "__eq__ __ne__ eq ne isin not_equal"),
    **by(_compared, "__lt__ __gt__ __le__ __ge__ lt gt le ge less greater less_equal greater_equal isclose"),
    **by(_inverted, "__invert__ logical_not bitwise_not"),
    **by(_masked, "masked_fill masked_scatter"),
    **by(_where, "where"),
    **by(_cast, "float long int bool half double bfloat16 type type_as"),
    **by(_moved, "to"),
    **by(_kept, "contiguous clone detach cuda cpu requires_grad dropout alpha_dropout feature_dropout clamp neg "),
    **by(
        _kept, "__neg__ flip roll alias clamp_min clamp_max zero clip negative positive tril triu fliplr flipud fill "
    ),
    **by(_kept, "normal uniform bernoulli exponential index_put fill_diagonal copy is_contiguous"),
    **by(_float_kept, "relu gelu silu tanh sigmoid leaky_relu elu softplus hardtanh relu6 mish selu exp log sqrt "),
    **by(_float_kept, "rsqrt sin cos normalize logsigmoid dropout1d dropout2d dropout3d hardswish hardsigmoid erf "),
    **by(_float_kept, "asin acos atan tan arcsin arccos arctan sinh cosh log2 log10 exp2 reciprocal celu logit prelu "),
    **by(_float_kept, "log_sigmoid softsign tanhshrink hardshrink softshrink threshold gumbel_softmax rrelu sinc "),
    **by(_float_kept, "log1p expm1"),
    **by(
        _same_shape,
        "pow __pow__ square nan_to_num isnan isfinite floor round sign ceil trunc frac sgn fix __floordiv__ __mod__",
    ),
    **by(_reached, "softmax log_softmax cumsum cumprod softmin logcumsumexp"),
    **by(_extreme, "amax amin"),
    **by(reduced, "sum any all prod logsumexp nansum nanmean count_nonzero"),
    **by(_place, "argmax argmin"),
    **by(_averaged, "mean std var"),
    **by(_length, "norm linalg_norm linalg_vector_norm"),
    **by(_two_moments, "std_mean var_mean"),
    **by(_quantile, "quantile nanquantile"),
    **by(_with_places, "median nanmedian mode cummax cummin"),
    **by(_differences, "diff"),
    **by(_gated, "glu"),
    **by(_compared_loss, "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div "),
    **by(_compared_loss, "binary_cross_entropy_with_logits"),
    **by(_with_indices, "max min"),
    **by(_sorted, "sort"),
    **by(_ordered, "argsort"),
    **by(_topk, "topk"),
    **by(_made_like, "zeros_like ones_like full_like empty_like"),
    **by(_noise_like, "randn_like rand_like"),
    **by(_made_new, "new_zeros new_ones new_empty new_full"),
    **by(_made_of, "new_tensor"),
    **by(_distances, "cdist"),
    **by(_inverse, "inverse linalg_inv linalg_pinv pinverse linalg_cholesky cholesky matrix_exp linalg_matrix_exp"),
    **by(_loss, "cross_entropy nll_loss"),
    **by(_aligned, "ctc_loss"),
}
