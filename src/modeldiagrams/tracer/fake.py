"""Running a model without its weights and without arithmetic.

Weights and inputs are replaced by torch's fake tensors: shape, dtype and device without memory. Ordinary Python asks
them for values all the same (``if mask.all():``, ``range(lengths.max())``), so `Shadows` computes small integer and
boolean tensors for real beside the fake ones. What it can't know it guesses, and says so.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

from modeldiagrams.tracer.internals import Operator, UninitializedTensor, memory_key, schema_of, unseen_by_modes
from modeldiagrams.tracer.walk import substitute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Shadows", "alike", "as_fake", "as_meta", "put_fake_weights", "share_with_threads"]

_SMALL = 1 << 15
"""Elements up to which a tensor is computed for real."""
_FACTORIES = frozenset(
    {"arange", "eye", "full", "linspace", "ones", "scalar_tensor", "tril_indices", "triu_indices", "zeros"}
)
_MAX_FRAMES = 30
_CHECKING = ("torch.distributions.distribution", "torch.distributions.constraints")
_MASKS = (torch.bool, torch.uint8)
aten = torch.ops.aten
_READ_SCALAR = getattr(aten, "_local_scalar_dense").default  # noqa: B009 - not private, only named so


class Shadows(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Computes what is small and follows from known values; guesses where Python asks for the rest."""

    supports_higher_order_operators = True

    def __init__(self, fake_mode: FakeTensorMode | None, on_guess: Callable[[Any, str], None]) -> None:
        """Start with nothing known.

        Args:
            fake_mode: Makes fakes of computed results; None on the meta device.
            on_guess: Is told every guess and its reason.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        self._fake_mode = fake_mode
        self._on_guess = on_guess
        self._known: dict[int, tuple[weakref.ref[Tensor], Tensor, int]] = {}
        self._writes: dict[int | None, int] = {}
        self._has_guessed = False

    def know(self, fake: Tensor, real: Tensor) -> None:
        """This is what a fake tensor would hold."""
        if real.numel() <= _SMALL and not real.is_meta:
            self._known[id(fake)] = (weakref.ref(fake), real, self._writes.get(memory_key(fake), 0))

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, Operator):
            return func(*args, **kwargs)
        real = self._computed(func, args, kwargs)
        if real is not None and func is _READ_SCALAR:
            return real[0]
        if real is not None and torch.Tag.dynamic_output_shape in func.tags:
            result = tree_map_only(Tensor, self._faked, real[0])
        else:
            if func is aten.index.Tensor:
                args = (args[0], self._positions(args[1]))
            result = self._run(func, args, kwargs)
        self._learn(func, args, result, real)
        return result

    def _run(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return func(*args, **kwargs)
        except Exception:
            if self._fake_mode is not None and self._fake_mode.cache_enabled and _has_script_object(args):
                return self._run_uncached(func, args, kwargs)
            guess = _GUESSES.get(schema_of(func).name)
            if guess is None or (guess is _guess_split and not self._has_guessed):
                raise
            result, told = guess(*args, **kwargs)
            if result is None:
                raise
            if told is not None:
                self._has_guessed = True
                name = schema_of(func).name.removeprefix("aten::")
                name = _PUBLIC_NAMES.get(name, name)
                self._on_guess(told, f"{name} needs values that were not computed")
                if guess is _guess_nonzero and args[0].numel() <= _SMALL:
                    with _disable_current_modes():  # every element, so these are their places
                        places = torch.ones(args[0].shape).nonzero()
                    self.know(result, places)
            return result

    def _run_uncached(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Torch remembers results of fake operators by their arguments; packed weights it cannot compare."""
        fake_mode: Any = self._fake_mode
        fake_mode.cache_enabled = False
        try:
            return self._run(func, args, kwargs)
        finally:
            fake_mode.cache_enabled = True

    def _positions(self, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Indices, with the positions they pick in place of masks whose content is known."""
        found: list[Tensor | None] = []
        for index in indices:
            is_mask = index is not None and index.dtype in _MASKS and index.dim() > 0
            mask = self._value(index) if index is not None and is_mask else None
            if mask is None:
                found.append(index)
            else:
                with _disable_current_modes():
                    positions = mask.nonzero().unbind(1)
                found += map(self._faked, positions)
        return found

    def _computed(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any] | None:
        """The real result in a tuple, or None where something it depends on is not known."""
        if torch.Tag.nondeterministic_seeded in func.tags:
            return None
        leaves = tree_leaves((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        values = {id(tensor): self._value(tensor) for tensor in tensors}
        if any(value is None for value in values.values()) or not (tensors or _is_small_factory(func, leaves)):
            return None
        real_args, real_kwargs = tree_map_only(Tensor, lambda tensor: values[id(tensor)], (tuple(args), kwargs))
        if "device" in real_kwargs:
            real_kwargs["device"] = torch.device("cpu")
        try:
            with _disable_current_modes():
                if schema_of(func).is_mutable:
                    real_args = tree_map_only(Tensor, torch.clone, real_args)
                return (func(*real_args, **real_kwargs),)
        except Exception:  # noqa: BLE001 - then it is simply not known
            return None

    def _learn(self, func: Any, args: Sequence[Any], result: Any, real: tuple[Any] | None) -> None:
        if schema_of(func).is_mutable:
            # whatever looks into the written memory is known no more
            for argument, tensor in zip(schema_of(func).arguments, args, strict=False):
                if argument.is_write and isinstance(tensor, Tensor):
                    self._writes[memory_key(tensor)] = self._writes.get(memory_key(tensor), 0) + 1
        if real is None:
            return
        for fake, value in zip(tree_leaves(result), tree_leaves(real[0]), strict=False):
            if isinstance(fake, Tensor) and isinstance(value, Tensor) and fake.shape == value.shape:
                self.know(fake, value)

    def _value(self, tensor: Tensor) -> Tensor | None:
        if not isinstance(tensor, FakeTensor) and not tensor.is_meta:
            return tensor if tensor.numel() <= _SMALL else None
        reference, real, writes = self._known.get(id(tensor), (None, None, 0))
        if reference is None or reference() is not tensor or self._writes.get(memory_key(tensor), 0) != writes:
            return None
        return real

    def _faked(self, real: Tensor) -> Tensor:
        return real.to("meta") if self._fake_mode is None else self._fake_mode.from_tensor(real)


def _is_small_factory(func: Any, leaves: Sequence[Any]) -> bool:
    name = schema_of(func).name.removeprefix("aten::")
    sizes = [abs(leaf) for leaf in leaves if isinstance(leaf, int)]
    return name in _FACTORIES and math.prod(max(1, size) for size in sizes) <= _SMALL * 16


def _guess_scalar(tensor: Tensor) -> tuple[Any, Any]:
    value: Any = 1.0 if tensor.is_floating_point() else 1
    value = _is_checked() if tensor.dtype is torch.bool else value
    return value, value


def _is_checked() -> bool:
    """Whether one of torch's checks asks (`torch._check…`, `torch.distributions`): what is to hold is taken to hold."""
    frame = sys._getframe(1)  # noqa: SLF001 - the documented way costs 100 times more
    for _ in range(_MAX_FRAMES):
        name = frame.f_globals.get("__name__", "")
        if name in _CHECKING or (name == "torch" and frame.f_code.co_name.startswith("_check")):
            return True
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


def _has_script_object(args: Sequence[Any]) -> bool:
    return any(isinstance(arg, torch.ScriptObject) for arg in args)


def _guess_equal(*_: Any, **__: Any) -> tuple[Any, Any]:
    return False, False


def _guess_nonzero(tensor: Tensor) -> tuple[Any, Any]:
    return torch.empty((tensor.numel(), tensor.dim()), dtype=torch.int64, device=tensor.device), "every element"


def _guess_masked_select(tensor: Tensor, mask: Tensor) -> tuple[Any, Any]:
    size = tensor.expand(mask.shape).numel() if mask.dim() > tensor.dim() else tensor.numel()
    return torch.empty(size, dtype=tensor.dtype, device=tensor.device), "every element"


def _guess_unique(tensor: Tensor, *_: Any, **__: Any) -> tuple[Any, Any]:
    def integers(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.int64, device=tensor.device)

    n = tensor.numel()
    values = torch.empty(n, dtype=tensor.dtype, device=tensor.device)
    return (values, integers(*tensor.shape), integers(n)), "all different"


def _guess_bincount(tensor: Tensor, weights: Tensor | None = None, minlength: int = 0) -> tuple[Any, Any]:
    dtype = torch.int64 if weights is None else torch.float64
    n = max(int(minlength), 1)
    return torch.empty(n, dtype=dtype, device=tensor.device), f"{n} bins"


def _guess_index(tensor: Tensor, indices: Sequence[Tensor | None]) -> tuple[Any, Any]:
    """A mask as index picks every element."""
    picked: list[Tensor | None] = []
    for index in indices:
        if index is not None and index.dtype in _MASKS:
            every = torch.zeros(index.numel(), dtype=torch.int64, device=index.device)
            picked += [every] * index.dim()
        else:
            picked.append(index)
    return aten.index.Tensor(tensor, picked), "every element"


def _guess_repeat_interleave(repeats: Tensor, *_: Any, **__: Any) -> tuple[Any, Any]:
    return torch.empty(repeats.numel(), dtype=torch.int64, device=repeats.device), "once each"


def _guess_split(tensor: Tensor, sizes: Sequence[int], dim: int = 0) -> tuple[Any, Any]:
    """Sizes that were guessed one by one need not add up: share evenly what there is."""
    n, total = len(sizes), tensor.shape[dim]
    if not n or set(sizes) != {1}:
        return None, None
    shared = [total // n] * n
    shared[-1] += total % n
    return aten.split_with_sizes.default(tensor, shared, dim), "even parts"


def _guess_grouped_mm(a: Tensor, b: Tensor, *_: Any, **__: Any) -> tuple[Any, Any]:
    """Torch's fake kernel wants bfloat16; the shape does not depend on it."""
    if a.dim() == 2 and b.dim() == 3:  # noqa: PLR2004 - rows in groups times a matrix per group
        return torch.empty((a.shape[0], b.shape[2]), dtype=a.dtype, device=a.device), None
    return None, None


def _guess_quantised(tensor: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
    """What torch's own fake kernel makes, but only from torch 2.12 on."""
    return (torch.empty_like(tensor), None) if isinstance(tensor, Tensor) else (None, None)


_GUESSES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "aten::_local_scalar_dense": _guess_scalar,
    "aten::allclose": _guess_equal,
    "aten::equal": _guess_equal,
    "aten::nonzero": _guess_nonzero,
    "aten::masked_select": _guess_masked_select,
    "aten::_unique2": _guess_unique,
    "aten::unique_dim": _guess_unique,
    "aten::unique_consecutive": _guess_unique,
    "aten::bincount": _guess_bincount,
    "aten::index": _guess_index,
    "aten::repeat_interleave": _guess_repeat_interleave,
    "aten::_grouped_mm": _guess_grouped_mm,
    "aten::quantize_per_tensor": _guess_quantised,
    "aten::split_with_sizes": _guess_split,
}


_PUBLIC_NAMES = {"_local_scalar_dense": "item", "_unique2": "unique"}


class _ThreadedFakeMode(FakeTensorMode):  # type: ignore[no-untyped-call]
    """A fake mode for several threads: what one of them is in the middle of is nothing to the others."""

    @property
    def _of_thread(self) -> dict[str, Any]:
        states = vars(self).setdefault("_states", {})
        state: dict[str, Any] = states.setdefault(threading.get_ident(), {"in_kernel": False, "entered": []})
        return state

    @property
    def in_kernel_invocation(self) -> bool:
        return bool(self._of_thread["in_kernel"])

    @in_kernel_invocation.setter
    def in_kernel_invocation(self, value: bool) -> None:
        self._of_thread["in_kernel"] = value

    @property
    def enter_stack(self) -> list[Any]:  # type: ignore[override]
        entered: list[Any] = self._of_thread["entered"]
        return entered


def share_with_threads(fake_mode: FakeTensorMode, thread: int) -> None:
    """Make a fake mode of one thread fit for several. Not from the start: some operators know the plain class only."""
    if type(fake_mode) is FakeTensorMode:
        state = {"in_kernel": fake_mode.in_kernel_invocation, "entered": fake_mode.enter_stack}
        vars(fake_mode)["_states"] = {thread: state}
        fake_mode.__class__ = _ThreadedFakeMode


@contextlib.contextmanager
def alike() -> Iterator[None]:
    """Let fake tensors do two things as real ones do them, and not do a third.

    `nn.Module.to` swaps the tensors themselves if they are fake, which fails for tensors that someone keeps an eye on,
    as we do: give them new content instead. A tensor of one element in an f-string is the number that it holds.
    Another library that is given one by DLPack would write to memory that is not there and end the process.
    """
    swap, is_first = torch.utils.swap_tensors, "__format__" not in vars(FakeTensor)
    torch.utils.swap_tensors = lambda tensor, other: setattr(tensor, "data", other)
    FakeTensor.__format__ = _format  # type: ignore[method-assign]
    FakeTensor.__dlpack__ = _no_memory  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.utils.swap_tensors = swap
        if is_first:  # not in a forward that traces another model
            del FakeTensor.__format__, FakeTensor.__dlpack__


def _no_memory(*_: Any, **__: Any) -> Any:
    raise BufferError("a tensor without memory cannot be given to another library by DLPack")


def _format(tensor: Tensor, spec: str) -> str:
    with unseen_by_modes():
        return format(tensor.item() if tensor.dim() == 0 else object.__repr__(tensor), spec)


def put_fake_weights(model: Any, fake_mode: FakeTensorMode, shadows: Shadows) -> None:
    """Put fakes in place of every tensor the model's modules hold; `marks.untouched` puts the real ones back."""
    for module in list(model.modules()) if isinstance(model, nn.Module) else []:
        if isinstance(module, torch.jit.ScriptModule):  # runs in C++ on tensors of its own
            continue
        attributes = vars(module)
        for key, value in list(attributes.items()):
            if key in ("_parameters", "_buffers"):
                value.update({name: as_fake(tensor, fake_mode, shadows) for name, tensor in value.items()})
            elif not isinstance(value, nn.Module):
                attributes[key] = as_fake(value, fake_mode, shadows)


def as_meta(value: Any, shadows: Shadows) -> Any:
    """A nested value with its tensors on the meta device; small ones stay known to the shadows."""

    def move(tensor: Tensor) -> Tensor:
        moved = tensor.to("meta")
        shadows.know(moved, tensor.detach())
        return moved

    return substitute(value, move)


def as_fake(value: Any, fake_mode: FakeTensorMode, shadows: Shadows) -> Any:
    """A nested value with fakes for its tensors; small ones of whole numbers stay known to the shadows."""

    def fake(tensor: Tensor) -> Tensor:
        if isinstance(tensor, FakeTensor):
            return tensor
        if isinstance(tensor, UninitializedTensor):  # cannot be faked; the real one must not be given its shape
            lazy: Tensor = type(tensor)(requires_grad=tensor.requires_grad, device="meta", dtype=tensor.dtype)
            return lazy
        made = fake_mode.from_tensor(tensor)
        if tensor.is_meta:  # as if it had memory: code that reads values checks for the meta device, too
            made.fake_device = torch.device("cpu")
        if not tensor.requires_grad:
            shadows.know(made, tensor.detach())
        return made

    if isinstance(value, Tensor):
        return fake(value)
    if type(value) in (list, tuple, dict) and _has_tensors(value):
        return substitute(value, fake)
    return value


def _has_tensors(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return any(isinstance(item, Tensor) or (type(item) in (list, tuple, dict) and _has_tensors(item)) for item in items)
