"""What calls of PyTorch take and return that select items of tensors."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from modeldiagrams.target.inference.parameter_names import role_of
from modeldiagrams.target.inference.symbolic.elements import broadcast
from modeldiagrams.target.inference.symbolic.operands import (
    Args,
    Kwargs,
    as_lengths,
    by,
    ids_below,
    ids_chosen_by,
    kind_of,
)
from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, same, unified
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading, Size, SymbolicTensor

__all__ = ["ITEMS"]

_ROWS = 2
"""Rank of rows of steps, of which a mask leaves some out."""


def _indexed_along(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``gather``, ``scatter``: an index of the same rank."""
    values = [*args[1:], *kwargs.values()]
    dim = next((value for value in values if isinstance(value, int)), 0)
    index = next((value for value in values if isinstance(value, Tensor)), None)
    ids_below(index, r.shape_of(args[0]).reaching(dim).at(dim).end().value)
    rank = r.shape_of(args[0]).rank
    shape = r.shape_of(index)
    return r.tensor(shape.of_rank(rank) if rank else shape, kind_of(args[0]))


def _put_along(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``scatter``: what is put somewhere has the shape of the index, and the result that of what it is put into."""
    _indexed_along(r, args, kwargs)
    tensors = [value for value in (*args[1:], *kwargs.values()) if isinstance(value, Tensor)]
    if len(tensors) == 2 and r.shape_of(tensors[1]).rank != 0:  # noqa: PLR2004  (no number for all)
        with r.noting():
            unified(r.shape_of(tensors[0]), r.shape_of(tensors[1]))
        kind_of(args[0]).join(kind_of(tensors[1]))
    return r.tensor(r.shape_of(args[0]), kind_of(args[0]))


def _selected(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``index_select``, ``index_add``: an index of one dimension."""
    values = [*args[1:], *kwargs.values()]
    dim = next((value for value in values if isinstance(value, int)), 0)
    index = next((value for value in values if isinstance(value, Tensor)), None)
    shape = r.shape_of(args[0]).reaching(dim)
    ids_below(index, shape.at(dim).end().value)
    chosen = r.shape_of(index).of_rank(1)
    _note_place(r, index, shape, dim)
    if kind_of(index).end().is_order:
        same(shape.at(dim), chosen.at(0))
    return r.tensor(shape.replaced(dim, chosen.at(0)), kind_of(args[0]))


def _note_place(r: Reading, index: Any, shape: Shape, at: int) -> None:
    """Note that numbers, one for each row, choose among rows."""
    kind = kind_of(index).end()
    if at == 0 and r.shape_of(index).rank == 1 and not (kind.is_order or shape.at(0).end().value):
        kind.is_place = True


def _added_at(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``index_add``: as many rows as the index has."""
    _selected(r, args, kwargs)
    tensors = [value for value in (*args[1:], *kwargs.values()) if isinstance(value, Tensor)]
    dim = next((value for value in (*args[1:], *kwargs.values()) if isinstance(value, int)), 0)
    if len(tensors) == 2 and r.shape_of(tensors[1]).rank != 0:  # noqa: PLR2004
        with r.noting():
            same(r.shape_of(tensors[0]).of_rank(1).at(0), r.shape_of(tensors[1]).reaching(dim).at(dim))
    return r.tensor(r.shape_of(args[0]), kind_of(args[0]))


def _item(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``x[key]``."""
    x, key = args[0], args[1]
    keys = [*key] if isinstance(key, tuple) else [key]
    shape, kind = r.shape_of(x), kind_of(x)
    if Ellipsis in [each for each in keys if not isinstance(each, Tensor)]:
        at = next(at for at, each in enumerate(keys) if each is Ellipsis)
        shape = _taken(r, shape, keys[:at])
        return r.tensor(_taken_back(r, shape, keys[at + 1 :]), kind)
    if keys[-1] is None and shape.rank is None and r.guesses.is_usual() is not _are_pairs(x, keys):
        rows = bool(shape.end().back) and not shape.end().front  # of what a layer made
        least = rows + len(shape.dims())
        shape = shape.of_rank(max(sum(each is not None for each in keys), least))  # few add dimensions in the middle
    if (_are_all(shape, keys) or _are_of_features(shape, keys)) and r.guesses.is_usual():
        shape = shape.of_rank(sum(key is not None for key in keys))
    if _is_table(x) and len(keys) == 1 and isinstance(keys[0], SymbolicTensor):
        return _embedded(r, shape, keys[0])
    if not isinstance(x, SymbolicTensor) and any(isinstance(each, SymbolicTensor) for each in keys):
        return _looked_up(r, shape, keys)
    made = r.tensor(_taken(r, shape, keys), kind)
    made.__dict__["is_column"] = len(keys) == 2 and keys[0] == slice(None) and type(keys[1]) is int  # noqa: PLR2004
    return made


def _set(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``canvas[rows, places] = features``: what is put there has the shape of what is there."""
    taken = _item(r, args, kwargs)
    broadcast(r, r.shape_of(taken), r.shape_of(args[2]))
    return args[0]


def _are_pairs(x: Any, keys: list[Any]) -> bool:
    """Whether features are rather behind the new dimension: ``left(ids)[:, :, None] + right(ids)[:, None]``."""
    return getattr(x, "is_embedded", False) and [each is None for each in keys] == [False, False, True]


def _are_all(shape: Shape, keys: list[Any]) -> bool:
    """Whether there is a key for each dimension: ``x[index, :]`` need not name those that it leaves as they are."""
    end, named = shape.end(), [key for key in keys if key is not None]
    is_last_left = len(named) > 1 and isinstance(named[-1], slice) and named[-1] == slice(None)
    return end.row is not None and is_last_left and keys[-1] is not None and len(end.dims()) <= len(named)


def _are_of_features(shape: Shape, keys: list[Any]) -> bool:
    """Whether slices take some of the features: ``style[:, :64]``, of 100; ``cameras[:, :3, :3]``, of matrices."""
    end = shape.end()
    if end.row is None or len(keys) < max(2, len(end.dims())) or not end.back:
        return False
    if len(end.back) > 1:
        return all(isinstance(key, slice) and key != slice(None) for key in keys[-2:])
    if len(keys) > len(end.dims()):
        return False
    *first, last = keys
    if any(isinstance(key, Tensor) or key != slice(None) for key in first):
        return False
    ends = [at for at in (last.start, last.stop) if at is not None] if isinstance(last, slice) else []
    are_plain = all(type(at) is int for at in ends)
    return bool(ends) and are_plain and 0 < max(ends) <= end.back[0].end().value


def _is_table(x: Any) -> bool:
    """Whether it is a matrix that the model learns."""
    return isinstance(x, nn.Parameter) and x.dim() > 1


def _embedded(r: Reading, shape: Shape, ids: SymbolicTensor) -> Any:
    """Rows of a table that the model learns, by ids of any rank, as of an embedding."""
    if kind_of(ids).end().dtype == "bool":
        return _looked_up(r, shape, [ids])
    table, *features = shape.front
    ids_below(ids, table.end().value)
    found = ids_chosen_by(r, ids)
    for dim in features:
        found = found.inserted(-1, dim)
    return r.tensor(found, Kind("float32"))


def _looked_up(r: Reading, shape: Shape, keys: list[Any]) -> Any:
    """A table of the model's own by ids."""
    for each, dim in zip(keys, shape.front, strict=False):
        ids_below(each, dim.value)
    return r.tensor(_taken(r, shape, keys), Kind())


def _taken(r: Reading, shape: Shape, keys: list[Any]) -> Shape:
    """Items by keys, from the front."""
    at, start, chosen = 0, 0, None
    for key in keys:
        match key:
            case Tensor() if chosen is not None:  # several numbers together choose one item
                before = len(chosen.front)
                shape, chosen = _chosen_together(r, shape, key, at, (start, chosen))
                at += len(chosen.front) - before
            case None:
                shape, at = shape.inserted(at, Dim(1)), at + 1
            case Tensor():
                start, (shape, at) = at, _chosen(r, shape, key, at)
                chosen = closed(*shape.front[start:at])
            case slice():
                shape, at = shape.replaced(at, _sliced(r, shape.reaching(at).at(at), key)), at + 1
            case int():
                r.takes_item(shape.reaching(at).at(at), key)
                shape = shape.replaced(at)
            case _:
                shape, at = shape.replaced(at, Dim()), at + 1
    return shape


def _chosen_together(r: Reading, shape: Shape, index: Any, at: int, before: tuple[int, Shape]) -> tuple[Shape, Shape]:
    """Items by the numbers in one more tensor: there are as many as both have together, ``x[rows[:, None], ids]``."""
    ids_below(index, shape.reaching(at).at(at).end().value)
    (start, chosen), rest = before, shape.replaced(at)
    together = broadcast(r, chosen, r.shape_of(index)).end()
    together = together.of_rank(max(1, len(together.dims())))
    front = (*rest.front[:start], *together.front, *rest.front[start + len(chosen.front) :])
    return Shape(front, rest.row, rest.back), together


def _chosen(r: Reading, shape: Shape, index: Any, at: int) -> tuple[Shape, int]:
    """Items by the numbers in a tensor, or those where a mask is true."""
    kind = kind_of(index)
    if is_mask := _is_mask(index):
        kind.become("bool")
    if str(index.dtype) == "torch.bool" or kind.end().dtype == "bool":
        kind.become("bool")
        chosen = r.shape_of(index)
        of_steps = shape.rank > _ROWS if shape.rank else is_mask
        is_of_steps = of_steps and at == 0 and r.guesses.is_usual()
        rank = chosen.rank or max(len(chosen.dims()), _ROWS if is_of_steps else 1)
        for more in range(rank):
            same(shape.reaching(at + more).at(at + more), chosen.of_rank(rank).at(more))
        for _ in range(rank - 1):
            shape = shape.replaced(at)
        return shape.replaced(at, Dim()), at + 1
    ids_below(index, shape.reaching(at).at(at).end().value)
    chosen = r.shape_of(index)
    is_of_node = bool(isinstance(index, SymbolicTensor) and index.given and index.given.is_of_tree)
    if chosen.rank is None:
        chosen = chosen.of_rank(max(0 if is_of_node else 1, len(chosen.dims())))  # a node has the place of one word
    kind.end().is_place |= is_of_node
    _note_place(r, index, shape, at)
    if kind.end().is_order and chosen.rank == 1:
        same(shape.at(at), chosen.at(0))
    return shape.replaced(at, *chosen.front), at + len(chosen.front)


def _is_mask(index: Any) -> bool:
    """Whether an input's name says that it is a mask: of items that are taken, no numbers."""
    given = index.given if isinstance(index, SymbolicTensor) else None
    role = role_of(str(given.path[-1])) if given else None
    return role is not None and role.name == "mask"


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
                r.takes_item(shape.reaching(at).at(at), key)
                shape = shape.replaced(at)
            case _:
                shape, at = shape.replaced(at, Dim()), at - 1
    return shape


def _sliced(r: Reading, dim: Dim, key: slice) -> Dim:
    start, stop = key.start, key.stop
    if start is stop is None and (key.step is None or (type(key.step) is int and not dim.end().value)):
        return Dim(every=(dim, key.step)) if key.step else dim
    for end in (start, stop):
        if isinstance(end, SymbolicTensor):
            as_lengths(end)
    if dim.end().value and not any(isinstance(end, Size | SymbolicTensor) for end in (start, stop, key.step)):
        return Dim(len(range(dim.end().value)[key]))
    if isinstance(start, int) and start < 0 and key.step is None:
        return _from_the_end(r, start, stop)
    if isinstance(stop, int) and stop > 0 and key.step is None and (start is None or 0 <= start < stop):
        dim.end().least = max(dim.end().least, stop if not isinstance(stop, Size) else 0)
        return r.dim(stop) if not start else Dim(stop - start)
    if isinstance(key.start, int) and stop is None and key.start > 0 and not isinstance(key.start, Size):
        rest = Dim()
        r.equations.add(dim, {rest: 1}, key.start)
        return rest
    return Dim()


def _from_the_end(r: Reading, start: int, stop: Any) -> Dim:
    """The last items, or some before them."""
    if stop is None:
        return r.dim(-start)
    return Dim(stop - start) if isinstance(stop, int) and start < stop < 0 else Dim()


ITEMS: dict[str, Handler] = {
    **by(_indexed_along, "gather take_along_dim"),
    **by(_put_along, "scatter scatter_add scatter_reduce"),
    **by(_selected, "index_select"),
    **by(_added_at, "index_add index_copy index_fill"),
    **by(_item, "__getitem__"),
    **by(_set, "__setitem__"),
}
