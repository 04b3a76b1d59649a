"""Runs one pass to see how it fails: the failing call of PyTorch, its operands, and the frames."""

from __future__ import annotations

import contextlib
import copy
import math
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from modeldiagrams.resolve.code.running_code import list_tracebacks
from modeldiagrams.resolve.code.user_code import seeded, silenced
from modeldiagrams.resolve.inputs.budget import ASKING_FOR_VALUES
from modeldiagrams.resolve.names.candidates import count_elements
from modeldiagrams.resolve.values.input_entries import find_instances, list_leaves
from modeldiagrams.resolve.values.input_values import make_inputs
from modeldiagrams.tracer.fake.kernel_checks import check_dtypes
from modeldiagrams.tracer.recording.work_limit import count_call, is_query
from modeldiagrams.tracer.restore import restored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import FrameType

    from modeldiagrams.resolve.values.input_entries import Leaf, Path

__all__ = ["MOST_WITH_VALUES", "Probe", "Probed", "needs_values"]

_MOST_CALLS = 20_000
_LARGE = 30_000_000
"""From this number of parameters on, no pass has values, and the weights are not copied."""
_MOST_WORK = 10**10
"""Rows of the inputs times parameters, up to which a pass has values."""
MOST_WITH_VALUES = 1 << 19
"""Of the inputs of such a pass: what is made of them needs several times their memory."""
_LONG = 1_500
"""Operators of a pass, from which on others with values are faster than on fake tensors."""
_IMAGE_RANK = 4
_LONGEST_MESSAGE = 1000
_ORIGINS = "_modeldiagrams_origins"
"""Attribute of a tensor: the inputs that it was made of."""


@dataclass
class Probed:
    """Result of one pass."""

    depth: int
    error: BaseException | None = None
    function: str = ""
    """Name of the failing function of PyTorch."""
    operands: list[Any] = field(default_factory=list)
    """Its tensors."""
    arguments: tuple[Any, ...] = ()
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    """What the model was called with."""
    outputs: tuple[tuple[int, ...], ...] = ()
    """Shapes of the tensors that it returned."""

    @property
    def message(self) -> str:
        """What was raised, in words; even that is the user's code."""
        try:
            return str(self.error)[:_LONGEST_MESSAGE]
        except Exception:  # noqa: BLE001  (whatever it raises)
            return ""

    def forget(self) -> None:
        """Let go of what only its frames hold; its shapes and messages stay.

        The frames of the error know those that called them, which know what was raised: tensors in such a circle would
        stay until the garbage collector runs.
        """
        error = self.error
        while error is not None:
            error.__traceback__ = None
            error = error.__context__

    def frames(self) -> list[tuple[FrameType, int]]:
        """Frames of the error with their instructions, innermost first."""
        return [(trace.tb_frame, trace.tb_lasti) for trace in list_tracebacks(self.error)]

    @property
    def place(self) -> tuple[str, tuple[int, ...]]:
        """Where it failed: the same for the same expression, reached in the same way."""
        return self.function, tuple(trace.tb_lasti for trace in list_tracebacks(self.error))

    def origins(self, shapes: Iterable[tuple[int, ...]]) -> frozenset[Path]:
        """The inputs that operands of these shapes were made of."""
        wanted = {*shapes}
        return frozenset().union(*(get_origins(o) for o in self.operands if tuple(o.shape) in wanted))

    def places(self) -> dict[int, Path]:
        """Identity of a value → its place in the inputs."""
        return {id(value): path for value, path in reversed([*_visited(self.args, self.kwargs)])}


class Probe:
    """Runs passes of a model, or of a copy, and restores what they change."""

    def __init__(self, model: nn.Module) -> None:
        """Copy the model.

        Args:
            model: Is run in eval mode, without gradients.
        """
        parameters = [parameter for parameter in model.parameters() if not is_lazy(parameter)]
        self._is_lazy = len(parameters) < len([*model.parameters()])
        self._size = sum(parameter.numel() for parameter in parameters)
        shared = {id(parameter): parameter for parameter in parameters} if self._size >= _LARGE else {}
        try:
            self.model = copy.deepcopy(model, shared)
        except Exception:  # noqa: BLE001  (some can't be copied)
            self.model = model
        self._written = () if self.model is not model else (*model.parameters(), *model.buffers())
        self._is_on_meta = any(parameter.is_meta for parameter in parameters)
        self._has_values = not self._is_on_meta and self._size < _LARGE
        self.is_long = False
        """Whether a pass had so many operators that values cost less than fake tensors."""
        self._is_recurrent = any(isinstance(module, nn.RNNBase) for module in model.modules())

    def run(self, entries: dict[str | int, Any]) -> Probed:
        """One pass; with values only where the model asks for them."""
        args, kwargs = make_inputs(entries)
        work = sum(map(_rows, list_leaves(entries))) * self._size
        may_have_values = self._has_values and work <= _MOST_WORK and count_elements(entries) <= MOST_WITH_VALUES
        # lazy layers make weights, which are no fake ones; on these, recurrent layers take operators for every step
        if self._is_lazy or ((self._is_recurrent or self.is_long) and may_have_values):
            return self._run(args, kwargs, is_fake=False)
        probed = self._run(args, kwargs, is_fake=True)
        # fake tensors let pass some of what kernels don't take
        if may_have_values and (probed.error is None or needs_values(probed.error)):
            real = self._run(args, kwargs, is_fake=False)
            return replace(real, depth=max(real.depth, probed.depth))
        return probed

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_fake: bool) -> Probed:
        mode = (
            FakeTensorMode(allow_non_fake_inputs=True) if is_fake and not self._is_on_meta else contextlib.nullcontext()
        )
        steps = Steps()
        kernels = steps if is_fake else contextlib.nullcontext()
        watch = _Watch()
        with seeded(), torch.no_grad(), silenced():
            try:
                convert: Any = getattr(mode, "from_tensor", None) or (
                    (lambda tensor: tensor.to("meta")) if self._is_on_meta else (lambda tensor: tensor)
                )
                args, kwargs = pytree.tree_map_only(Tensor, convert, (args, kwargs))
                for value, path in _visited(args, kwargs):
                    _mark(value, frozenset({path}))
                # a pass gives lazy layers the sizes of its inputs
                model = copy.deepcopy(self.model) if self._is_lazy else self.model
                with restored_afterwards(model, (args, kwargs), self._written), mode, kernels, watch:
                    result = model(*args, **kwargs)
            except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the model raises)
                return Probed(watch.calls, error, *watch.failing_call(error), args, kwargs)
            finally:
                self.is_long |= steps.count > _LONG
        shapes = [tuple(leaf.shape) for leaf in pytree.tree_leaves(result) if isinstance(leaf, Tensor)]
        return Probed(watch.calls, args=args, kwargs=kwargs, outputs=tuple(shapes))


@contextlib.contextmanager
def restored_afterwards(model: nn.Module, inputs: Any, written: Iterable[Tensor]) -> Iterator[None]:
    """Restore what user code sets in a model, and the content of tensors that it may write."""
    with restored(model, inputs, ()) as snapshot:
        for tensor in written:
            snapshot.before_write(tensor)
        yield


class _Watch(TorchFunctionMode):
    """Counts calls of PyTorch, and keeps the one that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self._error: BaseException | None = None
        self._failed: tuple[str, list[Any], tuple[Any, ...]] = ("", [], ())

    def failing_call(self, error: BaseException) -> tuple[str, list[Any], tuple[Any, ...]]:
        """The call that raised an error; where Python code did, the tensors that its frame knows."""
        if error is self._error:
            function, operands, args = self._failed
            # weights of lazy layers have no sizes again once the pass has ended
            return function, [each for each in operands if not is_lazy(each)], args
        frame = list_tracebacks(error)[0].tb_frame
        return (
            "",
            [
                value
                for value in frame.f_locals.values()
                if isinstance(value, Tensor) and not is_lazy(value) and value.ndim
            ],
            (),
        )

    def __torch_function__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        self.calls += 1
        count_call()
        if self.calls > _MOST_CALLS:
            raise RuntimeError("this pass does not end")
        try:
            result = func(*args, **(kwargs or {}))
        except Exception as error:
            self._error = error
            operands = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
            self._failed = (getattr(func, "__name__", str(func)), operands, tuple(args))
            raise
        origins = frozenset().union(*map(get_origins, find_instances((args, kwargs), Tensor)))
        for made in find_instances(result, Tensor) if origins else ():
            _mark(made, origins | get_origins(made))
        return result


def _rows(leaf: Leaf) -> int:
    """How often the weights are used for an input: for each id, pixel, or row of features."""
    features = leaf.shape[1] if len(leaf.shape) >= _IMAGE_RANK else leaf.shape[-1] if leaf.shape else 1
    return math.prod(leaf.shape) // (1 if leaf.dtype == "int64" else max(features, 1))


def get_origins(tensor: Any) -> frozenset[Path]:
    """Paths of the inputs that a tensor was computed from."""
    return getattr(tensor, _ORIGINS, frozenset())


def _mark(value: Any, origins: frozenset[Path]) -> None:
    if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
        object.__setattr__(value, _ORIGINS, origins)


def _visited(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Any, Path]]:
    """All values in the inputs with their places, outer ones first."""
    pending, opened = [*_inside(args, ()), *_inside(kwargs, ())], set[int]()
    for value, path in pending:
        yield value, path
        if id(value) not in opened:  # a node knows its parent
            opened.add(id(value))
            pending += _inside(value, path)


def _inside(value: Any, path: Path) -> list[tuple[Any, Path]]:
    owner = value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        owner = value._asdict()
    elif not isinstance(value, Tensor | nn.Module | ModuleType | dict) and hasattr(value, "__dict__"):
        owner = vars(value)
    if isinstance(owner, list | tuple):
        return [(item, (*path, index)) for index, item in enumerate(owner)]
    return [(item, (*path, str(key))) for key, item in owner.items()] if isinstance(owner, dict) else []


def needs_values(error: BaseException | None) -> bool:
    """Whether a pass on fake tensors ended because the model asks for values."""
    return any(name in type(error).__name__ for name in ASKING_FOR_VALUES)


_UNBIND = torch.ops.aten.unbind.int
"""What a loop over the rows of a tensor calls."""
_ITEM = torch.ops.aten._local_scalar_dense.default  # noqa: SLF001  (its name)
_MOST_OPERATORS = 8_000
"""Of a pass on fake tensors."""


class Steps(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Makes fake tensors refuse dtypes as kernels do, and ends passes with too many operators.

    Recurrent layers have some for every step.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        if func is _ITEM and type(args[0]) in (torch.Tensor, torch.nn.Parameter) and not args[0].is_meta:
            with _disable_current_modes():  # a number that the model has, which no input changes
                return func(*args)
        if is_query(func):  # must not fail
            return func(*args, **(kwargs or {}))
        self.count += 1
        count_call(func)
        if self.count > _MOST_OPERATORS or (func is _UNBIND and _parts(*args, **(kwargs or {})) > _MOST_OPERATORS):
            raise RuntimeError("this pass has too many steps")
        check_dtypes(func, args)
        return func(*args, **(kwargs or {}))


def _parts(tensor: Any, dim: int = 0) -> int:
    return int(tensor.shape[dim]) if -tensor.dim() <= dim < tensor.dim() else 0  # PyTorch says what is wrong
