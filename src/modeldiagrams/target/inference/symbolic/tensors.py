"""Symbolic tensors: the inputs of a model while its forward is only read. They note what they are used for.

Their shapes are unknown (`shapes`), so nothing is computed: each call of PyTorch only says which shapes and dtypes it
takes and returns (`elements`, `items`, `layers`, `modules`, `views`). The model's own code runs as in a pass, with its
loops, branches and modules.

Long because whatever code asks of a tensor, of a list and of a dict is answered by one class.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from modeldiagrams.target.inference.conditions import length_wanted
from modeldiagrams.target.inference.demands import demanded, is_demanded
from modeldiagrams.target.inference.entries import instances_in
from modeldiagrams.target.inference.lookups import is_called, tracebacks, unpacked_count
from modeldiagrams.target.inference.parameter_names import role_of
from modeldiagrams.target.inference.symbolic.containers import (
    USUAL_ITEMS,
    is_beside_tensor,
    is_zipped,
    keys_of,
    usual_count,
)
from modeldiagrams.target.inference.symbolic.equations import Equations
from modeldiagrams.target.inference.symbolic.given import Given
from modeldiagrams.target.inference.symbolic.guesses import Guesses
from modeldiagrams.target.inference.symbolic.kinds import Kind
from modeldiagrams.target.inference.symbolic.objects import made_of_fields, of_items
from modeldiagrams.target.inference.symbolic.products import Products
from modeldiagrams.target.inference.symbolic.ranks import Rank, rank_in_pattern
from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, Row, Shape, closed, factors_of, same
from modeldiagrams.target.inference.symbolic.sizes import Parts, Shaped, Size
from modeldiagrams.tracer.recording.work_limit import count_call

__all__ = ["Given", "Kind", "Parts", "Rank", "Reading", "Size", "SymbolicTensor"]

_MOST_CALLS = 4_000
_A_NUMBER = 2

Handler = Callable[["Reading", tuple[Any, ...], dict[str, Any]], Any]


@dataclass(eq=False)
class Reading:
    """One reading of a forward."""

    handlers: dict[str, Handler]
    """What calls of PyTorch take and give, by name."""
    equations: Equations = field(default_factory=Equations)
    products: Products = field(default_factory=Products)
    unused: Iterator[int] = field(default_factory=lambda: itertools.count(1009, 6))
    """Numbers that are no sizes of the model's own, for those that are not known while the code is read."""
    numbers: dict[int, Dim] = field(default_factory=dict)
    counts: dict[tuple[str | int, ...], int] = field(default_factory=dict)
    """How many items lists have, where an earlier reading told."""
    lists: frozenset[tuple[str | int, ...]] = frozenset()
    """Where PyTorch takes several tensors, and no tensor."""
    told: dict[int, int] = field(default_factory=dict)
    """Numbers made up for sizes, in an earlier reading too → what these are."""
    listed: frozenset[tuple[str | int, ...]] = frozenset()
    """Where items are taken by number, of lists."""
    classes: dict[tuple[str | int, ...], Any] = field(default_factory=dict)
    """Of objects that an earlier reading told."""
    guesses: Guesses = field(default_factory=Guesses)
    ranks: list[tuple[Shape, Callable[[int], bool]]] = field(default_factory=list)
    """Shapes of which code refuses some ranks."""
    symbols: Any = None
    """What is said of inputs, in words."""
    inputs: dict[str, Given] = field(default_factory=dict)
    calls: int = 0
    error: BaseException | None = None
    """What ended the reading."""

    def __post_init__(self) -> None:
        self._counted: list[Dim] = []
        self._gone_through = -1, -1, Dim()
        self._base = torch.empty(0)

    def given(self, path: tuple[str | int, ...]) -> Given:
        """A new input."""
        found = Given(path, is_list=path in self.listed, class_=self.classes.get(of_items(path)))
        found.tensor = self.tensor(None, Kind(), found)
        if self.symbols:
            self.symbols.told(found, self.guesses)
        return found

    def value(self, given: Given) -> Any:
        """What code gets for an input: a tensor, or several."""
        if given.path in self.lists:
            return [given.tensor._part(at, "item") for at in range(USUAL_ITEMS)]  # noqa: SLF001
        return made_of_fields(self, given) if given.class_ else given.tensor

    def tensor(
        self, shape: Shape | None = None, kind: Kind | None = None, given: Given | None = None
    ) -> SymbolicTensor:
        """A tensor; of any shape, if none is told."""
        made: Any = Tensor._make_subclass(SymbolicTensor, self._base)  # noqa: SLF001
        made.__dict__.update(
            reading=self,
            known=Shape((), Row(guesses=self.guesses)) if shape is None else shape,
            kind=kind or Kind(),
            given=given,
            results={},
        )
        return made  # type: ignore[no-any-return]

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Note what doesn't suit other uses."""
        try:
            yield
        except ClashError as error:
            self.guesses.clash(error.guesses)

    def scalar(self) -> SymbolicTensor:
        """A tensor without dimensions."""
        return self.tensor(closed())

    def number(self, dim: Dim) -> Size:
        """The size of a dimension for the model's own code."""
        end = dim.end()
        if end.value:
            return Size.of(end.value, self, end)
        known = next((number for number, other in self.numbers.items() if other.end() is end), None)
        if known is None:
            parts = factors_of(end)
            known = next(self.unused) if len(parts) == 1 else math.prod(self.number(part) for part in parts)
            if known in self.told:
                end.value = known = self.told[known]
            else:
                self.numbers[known] = end
        return Size.of(known, self, end)

    def dim(self, number: Any) -> Dim:
        """The dimension that a number is the size of."""
        if isinstance(number, Size):
            return number.dim
        if isinstance(number, SymbolicTensor):
            return number.as_size()
        known = self.numbers.get(int(number))
        return known.end() if known else Dim(int(number))

    def goes_through(self, dim: Dim, frame: Any) -> None:
        """Note that code goes through a dimension: beside others, these have as many items."""
        calls, line, other = self._gone_through
        if (self.calls, frame.f_lineno) == (calls, line) and is_zipped(frame):
            with self.noting():
                same(other, dim)
        self._gone_through = self.calls, frame.f_lineno, dim

    def takes_item(self, dim: Dim, number: int) -> None:
        """Note that the model's own code reads an item by its number."""
        end = dim.end()
        end.least = max(end.least, number + 1)
        self._counted.append(end)

    def solve(self) -> None:
        """Tell the sizes that follow from all that was read."""
        for dim in self._counted:  # a loop over the steps of one input reads as many items of another
            end = dim.end()
            if not end.value and end.least in self.numbers:
                same(end, known := self.numbers[end.least])
                known.end().least = 0
        self.equations.solve()  # what no sizes suit is found again below
        for error in (*self.products.solve(), *self.equations.solve()):
            self.guesses.clash(error.guesses)
        for number, dim in self.numbers.items():  # that a size is the number made up for it tells nothing
            dim.end().value = 0 if dim.end().value == number else dim.end().value

    def allows(self, shape: Shape, rank: int) -> bool:
        """Whether a shape may have a rank, by what code raises for."""
        known = shape.end()
        told = [(other.end(), suits) for other, suits in self.ranks]
        missing = rank - len(known.dims())
        return all(suits(len(other.dims()) + missing) for other, suits in told if other.row and other.row is known.row)

    def is_in_vain(self) -> bool:
        """Whether something doesn't fit, though nothing was taken for granted: layers don't fit each other."""
        frames = tracebacks(self.error) if isinstance(self.error, ValueError | TypeError) else []
        is_refused = bool(frames) and frames[0].tb_frame.f_globals.get("__name__", "").startswith("torch.nn.modules.")
        return (is_refused or self.guesses.clashes > 0) and not self.guesses.may_be_wrong

    def is_told(self) -> bool:
        """Whether words say the shapes of all inputs, and nothing that was read contradicts."""
        return bool(self.symbols) and not self.guesses.clashes and all(map(_is_told, self.inputs.values()))

    def shape_of(self, value: Any) -> Shape:
        """The shape of an operand."""
        return value.known.end() if isinstance(value, SymbolicTensor) else closed(*map(self.dim, Tensor.size(value)))


def _is_told(given: Given) -> bool:
    return bool(given.hint and given.hint.dims) or (bool(given.parts) and all(map(_is_told, given.parts.values())))


class SymbolicTensor(Tensor):
    """Stands for a tensor of unknown shape."""

    reading: Reading
    known: Shape
    kind: Kind
    given: Given | None
    results: dict[str, Any]
    """What code sets in it as in a dict."""
    is_embedded = False
    """Whether it is made of rows of a table."""
    packed: tuple[Dim, Dim] | None = None
    """Of the sizes of steps that are packed: the rows and the steps."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What a call of PyTorch gives."""
        kwargs = kwargs or {}
        symbolic = [*instances_in((args, kwargs), SymbolicTensor)]
        reading = symbolic[0].reading if symbolic else None
        name = getattr(func, "__name__", "")
        if reading is None:
            return NotImplemented
        reading.calls += 1
        count_call()
        if reading.calls > _MOST_CALLS:
            raise RuntimeError("there is too much to read")
        if name in ("__get__", "__set__"):
            is_of_object = args[0].given and args[0].given.way == "attribute" and not args[0].given.is_used
            return args[0]._part(func.__self__.__name__, "attribute") if is_of_object else args[0]  # noqa: SLF001
        for value in symbolic:
            value._use()  # noqa: SLF001
        bare = name.strip("_") if not name.startswith("__") else name
        handler = reading.handlers.get(name) or reading.handlers.get(bare)
        try:
            return handler(reading, args, kwargs) if handler else reading.tensor()
        except ClashError as error:
            reading.guesses.clash(error.guesses)
            return reading.tensor()

    # -- what is no call of PyTorch

    @property
    def shape(self) -> Any:  # type: ignore[override]
        """As of a tensor."""
        self._use(computes=False)
        made = Shaped((0,) * len(self.known.dims()))
        made.tensor = self
        return made

    @property
    def ndim(self) -> Any:  # type: ignore[override]
        """As of a tensor."""
        self._use(computes=False)
        rank_in_pattern(self, sys._getframe(1))  # noqa: SLF001
        return Rank.of(self)

    dtype = property(lambda self: getattr(torch, self.kind.end().dtype or self._usual_dtype()))
    device = property(lambda _: torch.device("cpu"))
    is_cuda = requires_grad = property(lambda _: False)
    T = property(lambda self: self.reading.handlers["t"](self.reading, (self,), {}))
    mT = property(  # noqa: N815
        lambda self: self.reading.handlers["transpose"](self.reading, (self, -1, -2), {})
    )
    real = imag = property(lambda self: self.reading.tensor(self.known))

    def _usual_dtype(self) -> str:
        """What its name says that it holds."""
        role = role_of(str(self.given.path[-1])) if self.given else None
        first = role.entries[0] if role and role.entries else None
        return str(first.get("dtype", "float32")) if isinstance(first, dict) else "float32"

    def dim(self) -> Any:
        """As of a tensor."""
        return self.ndim

    def ndimension(self) -> Any:
        """As of a tensor."""
        return self.ndim

    def size(self, dim: Any = None) -> Any:
        """As of a tensor."""
        return self.shape if dim is None else self.shape[dim]

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return "a tensor"

    def __format__(self, format_spec: str) -> str:
        return repr(self)

    def __len__(self) -> int:
        if self.given is None:
            return int(self.shape[0])
        frame = sys._getframe(1)  # noqa: SLF001
        if is_demanded(frame) and (count := length_wanted(frame, self)):
            self.reading.counts[self.given.path] = self.given.count = count
            return count
        if isinstance(self.given.path[-1], int):
            self.reading.takes_item(self.known.at(0), USUAL_ITEMS - 1)
        return USUAL_ITEMS

    def numel(self) -> Any:
        """As of a tensor."""
        known = self.known.end()
        return self.reading.number(Dim() if known.row else self.reading.equations.product(known.front))

    def is_floating_point(self) -> bool:
        """As of a tensor."""
        return bool(self.dtype.is_floating_point)

    def __bool__(self) -> bool:
        return bool(demanded(sys._getframe(1)))  # noqa: SLF001

    def __int__(self) -> int:
        self.kind.end().is_counted = self.kind.end().is_asked = True
        return _A_NUMBER

    def __index__(self) -> int:
        if self.given and not self.given.is_used:
            self.as_size()
        return int(self)

    def as_size(self) -> Dim:
        """The dimension whose size it is."""
        if self.given is None:
            return Dim()
        self.given.size = self.given.size or Dim()
        return self.given.size.end()  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return float(_A_NUMBER)

    def item(self) -> Any:
        """As of a tensor."""
        self.kind.end().is_asked = True
        return _A_NUMBER if self.kind.end().dtype != "float32" else float(_A_NUMBER)

    def tolist(self) -> Any:
        """As of a tensor; the items of an input stay what they are."""
        self._use()
        return self.reading.tensor(self.known, self.kind) if self.given else [_A_NUMBER] * USUAL_ITEMS

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reversed__(self) -> Any:
        return reversed([*self])

    def __contains__(self, key: Any) -> bool:
        return isinstance(key, str) and self.given is not None and key in self.given.parts

    def __iter__(self) -> Iterator[Any]:
        frame = sys._getframe(1)  # noqa: SLF001
        count = unpacked_count(frame)
        if self.given and not self.given.parts and is_beside_tensor(frame, SymbolicTensor):
            self._use()
        if self.given is None or self.given.is_used:
            item = self.known.replaced(0)
            self.reading.goes_through(self.known.at(0), frame)
            return iter([self.reading.tensor(item, self.kind) for _ in range(count or USUAL_ITEMS)])
        usual = 0 if self.given.is_end else usual_count(frame)
        return self._items(count or self.reading.counts.get(self.given.path, usual))

    def _items(self, count: int) -> Iterator[Any]:
        for at in range(count):
            yield self._part(at, "item")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and self.given:
            return self.results[key] if key in self.results else self._part(key, "key")
        if isinstance(key, int | slice) and self.given and self.given.is_list:
            return self._of_list(key, self.given)
        if type(key) is int and self.given:
            self.given.numbers.add(key)
        for each in instances_in(key, SymbolicTensor):
            each._use()  # noqa: SLF001 (of its own class)
        self._use(as_whole=not isinstance(key, int | slice))
        try:
            return self.reading.handlers["__getitem__"](self.reading, (self, key), {})
        except ClashError as error:
            self.reading.guesses.clash(error.guesses)
            return self.reading.tensor()

    def _of_list(self, key: int | slice, given: Given) -> Any:
        """Items of a list; those from its end where it is known how many there are."""
        count = self.reading.counts.get(given.path)
        if isinstance(key, slice):
            return [*self._items(count or USUAL_ITEMS)][key]
        return self._part(key + count if key < 0 and count else key, "item")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str) and self.given:
            self.results[key] = value  # what a forward puts into a dict that it was given
            return
        self._use()
        if isinstance(value, Tensor) and [*instances_in(key, Tensor)]:
            with self.reading.noting():
                self.reading.handlers["__setitem__"](self.reading, (self, key, value), {})

    def __add__(self, other: Any) -> Any:
        return [*self._listed(), *other] if isinstance(other, list) else torch.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return [*other, *self._listed()] if isinstance(other, list) else torch.add(self, other)

    def _listed(self) -> Any:
        """What it is as a list: one input, or the items of what ``tolist`` gives."""
        return self._items(1) if self.given else self

    def get(self, key: str, default: Any = None) -> Any:
        """As of a dict."""
        del default
        return self[key]

    def values(self) -> Any:
        """As of a dict."""
        return self._as_dict(self.given, sys._getframe(1)).values() if self.given else self  # noqa: SLF001

    def _as_dict(self, given: Given, frame: Any) -> dict[str, Any]:
        return {key: self._part(key, "key") for key in keys_of(given, self.reading.inputs, frame)}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self.__dict__.get("given") is None:
            raise AttributeError(name)
        if name in ("items", "keys") and is_called(frame := sys._getframe(1), name):  # noqa: SLF001
            return getattr(self._as_dict(self.__dict__["given"], frame), name)
        return self._part(name, "attribute")

    def _part(self, key: str | int, way: str) -> Any:
        given: Any = self.given
        if key not in given.parts and given.ends_with(key):
            given.plain[key] = None
        if key in given.plain:
            return given.plain[key]
        given.way = given.way or way
        if key not in given.parts:
            given.parts[key] = self.reading.given((*given.path, key))
        return self.reading.value(given.parts[key])

    def _use(self, *, computes: bool = True, as_whole: bool = True) -> None:
        if self.given:
            self.given.is_used = True
            self.given.is_computed = self.given.is_computed or computes
            self.given.is_whole = self.given.is_whole or as_whole
