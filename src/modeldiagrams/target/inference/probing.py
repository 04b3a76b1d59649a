"""One pass that is only watched for how it fails: the failing call of PyTorch, its operands, and the frames."""

from __future__ import annotations

import contextlib
import copy
import io
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from modeldiagrams.target.inference.candidates import element_count
from modeldiagrams.target.inference.lookups import tracebacks
from modeldiagrams.target.inputs import from_entries
from modeldiagrams.target.user_code import seeded
from modeldiagrams.tracer.fake.kernel_checks import KernelDtypes
from modeldiagrams.tracer.restore import restored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

__all__ = ["Probe", "Probed"]

_MOST_CALLS = 20_000
_LARGE = 30_000_000
"""From this number of parameters on, no pass has values, and the weights are not copied."""
_MOST_WORK = 10**10
"""Elements of the inputs times parameters, up to which a pass has values."""
_LONGEST_MESSAGE = 1000


@dataclass
class Probed:
    """How far a pass went."""

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

    def frames(self) -> list[tuple[FrameType, int]]:
        """Frames of the error with their instructions, innermost first."""
        return [(trace.tb_frame, trace.tb_lasti) for trace in tracebacks(self.error)]


class Probe:
    """Runs passes of a copy of a model, or of the model itself, which is restored after each."""

    def __init__(self, model: nn.Module) -> None:
        """Copy the model.

        Args:
            model: Is run in eval mode, without gradients.
        """
        parameters = [*model.parameters()]
        self._size = sum(parameter.numel() for parameter in parameters)
        shared = {id(parameter): parameter for parameter in parameters} if self._size >= _LARGE else {}
        try:
            self._model = copy.deepcopy(model, shared)
        except Exception:  # noqa: BLE001  (some can't be copied)
            self._model = model
        self._is_copy = self._model is not model
        self._is_on_meta = any(parameter.is_meta for parameter in parameters)
        self._has_values = not self._is_on_meta and self._size < _LARGE

    def run(self, entries: dict[str | int, Any]) -> Probed:
        """One pass; with values only where the model asks for them."""
        args, kwargs = from_entries(entries)
        probed = self._run(args, kwargs, is_fake=True)
        # fake tensors let pass some of what kernels don't take
        is_cheap = element_count(entries) * self._size <= _MOST_WORK
        if self._has_values and is_cheap and (probed.error is None or _needs_values(probed.error)):
            real = self._run(args, kwargs, is_fake=False)
            return replace(real, depth=max(real.depth, probed.depth))
        return probed

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_fake: bool) -> Probed:
        mode = (
            FakeTensorMode(allow_non_fake_inputs=True) if is_fake and not self._is_on_meta else contextlib.nullcontext()
        )
        kernels = KernelDtypes() if is_fake else contextlib.nullcontext()
        watch = _Watch()
        quiet = io.StringIO()
        level = logging.root.manager.disable
        logging.disable(logging.CRITICAL)  # PyTorch logs every op that refuses its fake inputs
        with seeded(), torch.no_grad(), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            try:
                convert: Any = getattr(mode, "from_tensor", None) or (
                    (lambda tensor: tensor.to("meta")) if self._is_on_meta else (lambda tensor: tensor)
                )
                args, kwargs = pytree.tree_map_only(Tensor, convert, (args, kwargs))
                with self._as_it_was((args, kwargs)), mode, kernels, watch:
                    result = self._model(*args, **kwargs)
            except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the model raises)
                return Probed(watch.calls, error, *watch.failed, args, kwargs)
            finally:
                logging.disable(level)
        shapes = [tuple(leaf.shape) for leaf in pytree.tree_leaves(result) if isinstance(leaf, Tensor)]
        return Probed(watch.calls, args=args, kwargs=kwargs, outputs=tuple(shapes))

    @contextlib.contextmanager
    def _as_it_was(self, inputs: Any) -> Iterator[None]:
        """The model itself keeps nothing of a pass."""
        if self._is_copy:
            yield
            return
        with restored(self._model, inputs, ()) as snapshot:
            for tensor in (*self._model.parameters(), *self._model.buffers()):
                snapshot.before_write(tensor)
            yield


class _Watch(TorchFunctionMode):
    """Counts calls of PyTorch, and keeps the one that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.failed: tuple[str, list[Any], tuple[Any, ...]] = ("", [], ())

    def __torch_function__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        self.calls += 1
        if self.calls > _MOST_CALLS:
            raise RuntimeError("this pass does not end")
        try:
            result = func(*args, **(kwargs or {}))
        except Exception:
            operands = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
            self.failed = (getattr(func, "__name__", str(func)), operands, tuple(args))
            raise
        return result


def _needs_values(error: BaseException | None) -> bool:
    name = type(error).__name__
    return "DataDependent" in name or "DynamicOutputShape" in name or "UnsupportedFakeTensor" in name
