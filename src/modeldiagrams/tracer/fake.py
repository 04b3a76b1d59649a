"""Running a model without its weights and without arithmetic.

Weights and inputs are replaced by torch's fake tensors: shape, dtype and device without memory. Ordinary Python asks
them for values all the same (``if mask.all():``, ``range(lengths.max())``), so `Shadows` computes small integer and
boolean tensors for real beside the fake ones. What it can't know it guesses, and says so.
"""

from __future__ import annotations

import contextlib
import math
import threading
import weakref
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import handle_torch_function, has_torch_function
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

from modeldiagrams.tracer.guesses import GUESSES, MASKS, guess_nonzero, guess_split, is_checked, is_running
from modeldiagrams.tracer.internals import Operator, UninitializedTensor, memory_key, schema_of, unseen_by_modes
from modeldiagrams.tracer.walk import substitute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["Shadows", "alike", "as_fake", "as_meta", "put_fake_weights", "share_with_threads"]

_SMALL = 1 << 15
"""Elements up to which a tensor is computed for real."""
_FACTORIES = frozenset(
    {"arange", "eye", "full", "linspace", "ones", "scalar_tensor", "tril_indices", "triu_indices", "zeros"}
)
_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_ONES = "as if whole numbers made of others were 1"
_PUBLIC_NAMES = {"_local_scalar_dense": "item", "_unique2": "unique"}
_NOTHING: Mapping[str, Any] = MappingProxyType({})
aten = torch.ops.aten
_RNN = "torch.nn.utils.rnn"
_EMPTY = aten.empty.memory_format
_PACK = getattr(aten, "_pack_padded_sequence").default  # noqa: B009 - not private, only named so
_READ_SCALAR = getattr(aten, "_local_scalar_dense").default  # noqa: B009 - not private, only named so


class _Known(NamedTuple):
    """What a fake tensor holds."""

    fake: weakref.ref[Tensor]
    real: Tensor
    writes: int
    """To its memory until then."""
    is_assumed: bool
    """It is not computed, but follows from an assumption."""


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
        self._known: dict[int, _Known] = {}
        self._writes: dict[int | None, int] = {}
        self._has_guessed = False

    def know(self, fake: Tensor, real: Tensor, *, is_assumed: bool = False) -> None:
        """This is what a fake tensor would hold, or is taken to hold."""
        if real.numel() <= _SMALL and not real.is_meta:
            writes = self._writes.get(memory_key(fake), 0)
            self._known[id(fake)] = _Known(weakref.ref(fake), real, writes, is_assumed)

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, Operator):
            return func(*args, **kwargs)
        if func is _PACK and (lengths := self._value(args[1])) is not None:
            return _packed(args[0], lengths)
        if func is _EMPTY and kwargs.get("dtype") is torch.int64 and is_running("pad_packed_sequence", _RNN):
            with _disable_current_modes():  # C++ code writes the lengths into it
                return func(*args, **kwargs)
        real = self._computed(func, args, kwargs)
        is_assumed = real is not None and any(map(self._is_assumed, tree_leaves((args, kwargs))))
        if real is not None and func is _READ_SCALAR:
            return self._assumed_scalar(args[0], real[0]) if is_assumed else real[0]
        if real is not None and torch.Tag.dynamic_output_shape in func.tags:
            result = tree_map_only(Tensor, self._faked, real[0])
            if is_assumed:
                self._tell(func, _ONES)
        else:
            if func is aten.index.Tensor:
                args = (args[0], self._positions(args[1]))
            result = self._run(func, args, kwargs)
        self._learn(func, args, result, real, is_assumed=is_assumed)
        return result

    def _assumed_scalar(self, tensor: Tensor, value: Any) -> Any:
        told = True if tensor.dtype is torch.bool and is_checked() else value
        self._tell(_READ_SCALAR, told)
        return told

    def _tell(self, func: Any, told: Any) -> None:
        self._has_guessed = True
        name = schema_of(func).name.removeprefix("aten::")
        name = _PUBLIC_NAMES.get(name, name)
        self._on_guess(told, f"{name} needs values that were not computed")

    def _run(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return func(*args, **kwargs)
        except Exception:
            if self._fake_mode is not None and self._fake_mode.cache_enabled and _has_script_object(args):
                return self._run_uncached(func, args, kwargs)
            guess = GUESSES.get(schema_of(func).name)
            if guess is None or (guess is guess_split and not self._has_guessed):
                raise
            result, told = guess(*args, **kwargs)
            if result is None:
                raise
            if told is not None:
                self._tell(func, told)
                if guess is guess_nonzero and args[0].numel() <= _SMALL:
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
            is_mask = index is not None and index.dtype in MASKS and index.dim() > 0
            mask = self._value(index) if index is not None and is_mask else None
            if mask is None:
                found.append(index)
            else:
                if self._is_assumed(index):
                    self._tell(aten.index.Tensor, _ONES)
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

    def _learn(self, func: Any, args: Sequence[Any], result: Any, real: tuple[Any] | None, *, is_assumed: bool) -> None:
        if schema_of(func).is_mutable:
            # whatever looks into the written memory is known no more
            for argument, tensor in zip(schema_of(func).arguments, args, strict=False):
                if argument.is_write and isinstance(tensor, Tensor):
                    self._writes[memory_key(tensor)] = self._writes.get(memory_key(tensor), 0) + 1
        if real is None:
            if _is_made_whole(func, args, result) and result.numel() <= _SMALL:
                with _disable_current_modes():  # at once, so that all that follows from them agrees
                    ones = torch.ones(result.shape, dtype=result.dtype)
                self.know(result, ones, is_assumed=True)
            return
        for fake, value in zip(tree_leaves(result), tree_leaves(real[0]), strict=False):
            if isinstance(fake, Tensor) and isinstance(value, Tensor) and fake.shape == value.shape:
                self.know(fake, value, is_assumed=is_assumed)

    def _value(self, tensor: Tensor) -> Tensor | None:
        if not isinstance(tensor, FakeTensor) and not tensor.is_meta:
            return tensor if tensor.numel() <= _SMALL else None
        known = self._entry(tensor)
        return None if known is None else known.real

    def _entry(self, tensor: Tensor) -> _Known | None:
        known = self._known.get(id(tensor))
        if known is None or known.fake() is not tensor or self._writes.get(memory_key(tensor), 0) != known.writes:
            return None
        return known

    def _is_assumed(self, leaf: Any) -> bool:
        known = self._entry(leaf) if isinstance(leaf, Tensor) else None
        return known is not None and known.is_assumed

    def _faked(self, real: Tensor) -> Tensor:
        return real.to("meta") if self._fake_mode is None else self._fake_mode.from_tensor(real)


def _packed(padded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sequences of known lengths in one, and how many are that long: real, for recurrent layers read it in C++."""
    with _disable_current_modes():
        sizes = (lengths[:, None] > torch.arange(int(lengths.max()))).sum(0)
        rows = int(lengths.sum())
    return padded.new_empty((rows, *padded.shape[2:])), sizes


def _is_small_factory(func: Any, leaves: Sequence[Any]) -> bool:
    name = schema_of(func).name.removeprefix("aten::")
    sizes = [abs(leaf) for leaf in leaves if isinstance(leaf, int)]
    return name in _FACTORIES and math.prod(max(1, size) for size in sizes) <= _SMALL * 16


def _is_made_whole(func: Any, args: Sequence[Any], result: Any) -> bool:
    """Whether an operator turns fractions into whole numbers: durations, lengths, places."""
    is_conversion = func is aten._to_copy.default or func is aten.to.dtype  # noqa: SLF001 - not private
    return is_conversion and args[0].is_floating_point() and result.dtype in _WHOLE


def _has_script_object(args: Sequence[Any]) -> bool:
    return any(isinstance(arg, torch.ScriptObject) for arg in args)


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

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = _NOTHING
    ) -> Any:
        is_over = not vars(self)["_entered_first"]  # this thread runs on when the pass has ended
        if is_over and not any(isinstance(leaf, FakeTensor) for leaf in tree_leaves((args, kwargs))):
            return func(*args, **kwargs)
        return super().__torch_dispatch__(func, types, args, kwargs)


def share_with_threads(modes: Sequence[Any], thread: int) -> Sequence[Any]:
    """Make the modes that one thread has entered fit for several.

    Fake modes are not so from the start: some operators know the plain class only.
    """
    for mode in modes:
        if type(mode) is FakeTensorMode:
            state = {"in_kernel": mode.in_kernel_invocation, "entered": mode.enter_stack}
            vars(mode).update(_states={thread: state}, _entered_first=mode.enter_stack)
            mode.__class__ = _ThreadedFakeMode
    return modes


@contextlib.contextmanager
def alike() -> Iterator[None]:
    """Let fake tensors do some things as real ones do them, and not do one.

    `nn.Module.to` swaps the tensors themselves if they are fake, which fails for tensors that someone keeps an eye on,
    as we do: give them new content instead. A tensor of one element in an f-string is the number that it holds. A list
    of values is read in one go. Memory that is not there is not handed to other libraries, which would crash.
    """
    swap, is_first = torch.utils.swap_tensors, "__format__" not in vars(FakeTensor)
    tolist = FakeTensor.tolist
    FakeTensor.tolist = _tolist_with(tolist)  # type: ignore[method-assign]
    FakeTensor.__dlpack__ = _no_memory  # type: ignore[assignment, method-assign]
    torch.utils.swap_tensors = lambda tensor, other: setattr(tensor, "data", other)
    FakeTensor.__format__ = _format  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.utils.swap_tensors = swap
        FakeTensor.tolist = tolist  # type: ignore[method-assign]
        if is_first:  # not in a forward that traces another model
            del FakeTensor.__format__, FakeTensor.__dlpack__


def _no_memory(_tensor: Tensor, *_: Any, **__: Any) -> Any:
    raise RuntimeError("a tensor without values has no memory that another library could use")


def _tolist_with(original: Callable[..., Any]) -> Callable[..., Any]:
    def tolist(*args: Any) -> Any:
        return original(*args)

    tolist.__module__ = "torch.Tensor"  # as which it is shown

    def shown_tolist(self: Tensor) -> Any:
        return handle_torch_function(tolist, (self,), self) if has_torch_function((self,)) else original(self)

    return shown_tolist


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
            lazy: Tensor = type(tensor)(requires_grad=tensor.requires_grad, device=tensor.device, dtype=tensor.dtype)
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
