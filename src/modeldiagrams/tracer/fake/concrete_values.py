"""Computes the real values of small tensors in addition to the fake ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

from modeldiagrams.tracer.fake.data_dependent import (
    GUESSES,
    MASKS,
    assumed_number,
    guess_nonzero,
    guess_split,
    is_checked,
    is_running,
)
from modeldiagrams.tracer.fake.kernel_checks import check_dtypes, check_positions
from modeldiagrams.tracer.fake.known_values import SMALL, KnownValues
from modeldiagrams.tracer.torch_facts.private_api import Operator, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FACTORIES = frozenset(
    {"arange", "eye", "full", "linspace", "ones", "scalar_tensor", "tril_indices", "triu_indices", "zeros"}
)
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_ONES = "as if whole numbers made of others were 1"
_PUBLIC_NAMES = {"_local_scalar_dense": "item", "_unique2": "unique"}
aten = torch.ops.aten
_RNN = "torch.nn.utils.rnn"
_EMPTY = aten.empty.memory_format
_PACK = getattr(aten, "_pack_padded_sequence").default  # noqa: B009 - not private, only named so
_READ_SCALAR = getattr(aten, "_local_scalar_dense").default  # noqa: B009 - not private, only named so


class ConcreteValues(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Computes small results of known values; guesses other values when Python asks for them."""

    supports_higher_order_operators = True

    def __init__(self, fake_mode: FakeTensorMode | None, on_guess: Callable[[Any, str], None]) -> None:
        """Make a mode that knows no values yet.

        Args:
            fake_mode: Makes fakes of computed results; None on the meta device.
            on_guess: Called with every guess and its reason.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        self._fake_mode = fake_mode
        self._on_guess = on_guess
        self.known = KnownValues()
        self._has_guessed = False
        self._is_closed = False

    def close(self) -> None:
        """End the pass: threads that still run compute real values, unless they use fakes."""
        self._is_closed = True

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._is_closed and not any(isinstance(leaf, FakeTensor) for leaf in tree_leaves((args, kwargs))):
            with _disable_current_modes():
                return func(*args, **kwargs)
        if not isinstance(func, Operator):
            return func(*args, **kwargs)
        if func is _PACK and (lengths := self.known.value(args[1])) is not None:
            return _pack_sequences(args[0], lengths)
        if func is _EMPTY and kwargs.get("dtype") is torch.int64 and is_running("pad_packed_sequence", _RNN):
            with _disable_current_modes():  # C++ code writes lengths into it
                return func(*args, **kwargs)
        written = find_written(func, args, kwargs)
        real = self._compute(func, args, kwargs, written)
        is_assumed = real is not None and any(map(self.known.is_assumed, tree_leaves((args, kwargs))))
        if real is not None and func is _READ_SCALAR:
            return self._assumed_scalar(args[0], real[0]) if is_assumed else real[0]
        if real is not None and torch.Tag.dynamic_output_shape in func.tags:
            result = tree_map_only(Tensor, self._make_fake, real[0])
            if is_assumed:
                self._report(func, _ONES)
        else:
            if func is aten.index.Tensor:
                args = (args[0], self._resolve_masks(args[1]))
            check_dtypes(func, args)
            check_positions(func, args, self._certain_value)
            result = self._run(func, args, kwargs)
        self.known.written(written, is_known=real is not None and not is_assumed)
        self._remember(func, args, result, real, is_assumed=is_assumed)
        return result

    def _certain_value(self, tensor: Tensor) -> Tensor | None:
        return None if self.known.is_assumed(tensor) else self.known.value(tensor)

    def _assumed_scalar(self, tensor: Tensor, value: Any) -> Any:
        answer = True if tensor.dtype is torch.bool and is_checked() else value
        self._report(_READ_SCALAR, answer)
        return answer

    def _report(self, func: Any, value: Any) -> None:
        self._has_guessed = True
        name = schema_of(func).name.removeprefix("aten::")
        name = _PUBLIC_NAMES.get(name, name)
        self._on_guess(value, f"{name} needs values that were not computed")

    def _run(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return func(*args, **kwargs)
        except Exception:
            has_packed = any(isinstance(arg, torch.ScriptObject) for arg in args)
            if has_packed and self._fake_mode is not None and self._fake_mode.cache_enabled:
                return self._run_uncached(func, args, kwargs)
            guess = GUESSES.get(schema_of(func).name)
            if guess is None or (guess is guess_split and not self._has_guessed):
                raise
            result, answer = guess(*args, **kwargs)
            if result is None:
                raise
            if answer is not None:
                self._report(func, answer)
                if guess is guess_nonzero and args[0].numel() <= SMALL:
                    with _disable_current_modes():  # every element is nonzero, so these are their positions
                        positions = torch.ones(args[0].shape).nonzero()[: len(result)]
                    self.known.remember(result, positions)
            return result

    def _run_uncached(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run without torch's cache of results, which can't compare packed weights."""
        fake_mode: Any = self._fake_mode
        fake_mode.cache_enabled = False
        try:
            return self._run(func, args, kwargs)
        finally:
            fake_mode.cache_enabled = True

    def _resolve_masks(self, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Replace masks whose content is known by the positions that they select."""
        found: list[Tensor | None] = []
        for index in indices:
            is_mask = index is not None and index.dtype in MASKS and index.dim() > 0
            mask = self.known.value(index) if index is not None and is_mask else None
            if mask is None:
                found.append(index)
            else:
                if self.known.is_assumed(index):
                    self._report(aten.index.Tensor, _ONES)
                with _disable_current_modes():
                    positions = mask.nonzero().unbind(1)
                found += map(self._make_fake, positions)
        return found

    def _compute(
        self, func: Any, args: Sequence[Any], kwargs: dict[str, Any], written: Sequence[Tensor]
    ) -> tuple[Any] | None:
        """Compute the real result, in a tuple; None if it depends on unknown values.

        Writes also go to the known values, where all views see them.
        """
        if torch.Tag.nondeterministic_seeded in func.tags:
            return None
        leaves = tree_leaves((args, kwargs))
        tensors = {id(leaf): leaf for leaf in leaves if isinstance(leaf, Tensor)}
        values = {key: self.known.value(tensor) for key, tensor in tensors.items()}
        if any(value is None for value in values.values()) or not (tensors or _is_small_factory(func, leaves)):
            return None
        # copy real tensors, because a view of them may be written later
        apart = {key for key, tensor in tensors.items() if values[key] is tensor}
        apart |= {id(tensor) for tensor in written if not self.known.reaches_all_views(tensor)}
        try:
            with _disable_current_modes():
                values |= {key: value.clone() for key, value in values.items() if value is not None and key in apart}
                args, kwargs = tree_map_only(Tensor, lambda tensor: values[id(tensor)], (tuple(args), kwargs))
                if "device" not in kwargs:
                    return (func(*args, **kwargs),)
                # a copy between fake devices is one, although all values are on one device
                return (tree_map_only(Tensor, torch.clone, func(*args, **{**kwargs, "device": torch.device("cpu")})),)
        except Exception:  # noqa: BLE001 (then the result stays unknown)
            return None

    def _remember(
        self, func: Any, args: Sequence[Any], result: Any, real: tuple[Any] | None, *, is_assumed: bool
    ) -> None:
        if real is None:
            if _converts_to_integers(func, args, result) and result.numel() <= SMALL:
                with _disable_current_modes():  # now, so that all results computed from them agree
                    ones = torch.full(result.shape, assumed_number(), dtype=result.dtype)
                self.known.remember(result, ones, is_assumed=True)
            return
        for fake, value in zip(tree_leaves(result), tree_leaves(real[0]), strict=False):
            if isinstance(fake, Tensor) and isinstance(value, Tensor) and fake.shape == value.shape:
                self.known.remember(fake, value, is_assumed=is_assumed)

    def _make_fake(self, real: Tensor) -> Tensor:
        return real.to("meta") if self._fake_mode is None else self._fake_mode.from_tensor(real)


def _pack_sequences(padded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Pack sequences of known lengths; the batch sizes are real because recurrent layers read them in C++."""
    with _disable_current_modes():
        sizes = (lengths[:, None] > torch.arange(int(lengths.max()))).sum(0)
        rows = int(lengths.sum())
    return padded.new_empty((rows, *padded.shape[2:])), sizes


def find_written(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors that an operator writes."""
    if not schema_of(func).is_mutable:
        return []
    arguments = schema_of(func).arguments
    given = {**dict(zip((argument.name for argument in arguments), args, strict=False)), **kwargs}
    written = [given.get(argument.name) for argument in arguments if argument.is_write]
    return [leaf for leaf in tree_leaves(written) if isinstance(leaf, Tensor)]


def _is_small_factory(func: Any, leaves: Sequence[Any]) -> bool:
    name = schema_of(func).name.removeprefix("aten::")
    sizes = [abs(leaf) for leaf in leaves if isinstance(leaf, int)]
    return name in _FACTORIES and math.prod(max(1, size) for size in sizes) <= SMALL * 16


def _converts_to_integers(func: Any, args: Sequence[Any], result: Any) -> bool:
    """Whether an operator converts floating point numbers to integers, such as durations, lengths and positions."""
    is_conversion = func is aten._to_copy.default or func is aten.to.dtype  # noqa: SLF001 - not private
    return is_conversion and args[0].is_floating_point() and result.dtype in _INTEGERS
