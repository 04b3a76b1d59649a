"""Guesses results of operators that depend on values of fake tensors.

Each function takes the operator's arguments and returns a result and the assumption to report; None if there is none.
"""

from __future__ import annotations

import contextlib
import math
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping, Sequence
    from types import FrameType

MASKS = (torch.bool, torch.uint8)
_MAX_FRAMES = 30
_CHECKING = ("torch.distributions.distribution", "torch.distributions.constraints")
aten = torch.ops.aten


def is_checked() -> bool:
    """Whether a check of torch is running (`torch._check…`, `torch.distributions`): checks are assumed to pass."""
    return any(
        module in _CHECKING or (module == "torch" and name.startswith("_check")) for module, name in _stack_names()
    )


def is_running(function: str, module: str) -> bool:
    """Whether a function of a Python module is on the stack."""
    return (module, function) in _stack_names()


def _stack_names() -> Iterator[tuple[str, str]]:
    """Yield module and name of each function on the stack, the innermost first."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 (`inspect.stack` is 100 times slower)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return
        yield frame.f_globals.get("__name__", ""), frame.f_code.co_name
        frame = frame.f_back


_assumes_fewer = False
"""For the running pass: passes run one after the other."""
_unlike: _UnlikeSizes | None = None
"""Chooses the assumed sizes of the running pass, if they differ from each other."""


class _UnlikeSizes:
    """Chooses assumed sizes that differ from each other, so that each shows by itself; those of one mask are equal."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._of_masks: MutableMapping[Tensor, tuple[int, int]] = WeakTensorKeyDictionary()

    def choose(self, most: int, mask: Tensor | None) -> int:
        """Choose one of at most `most`."""
        if mask is None or mask.is_inference():  # that has no version
            return self._take(most)
        version, size = self._of_masks.get(mask, (None, 0))
        if version != mask._version:  # noqa: SLF001 (nothing else tells that a tensor was written)
            size = self._take(most)
            self._of_masks[mask] = mask._version, size  # noqa: SLF001
        return size

    def _take(self, most: int) -> int:
        size = next((size for size in range(math.isqrt(most) + 1, most) if size not in self._taken), most // 2)
        self._taken.add(size)
        return size


@contextlib.contextmanager
def fewer_assumed(*, unlike: bool = False) -> Iterator[None]:
    """Assume other sizes in the block, to see what depends on assumed ones; `unlike` each other if so said."""
    global _assumes_fewer, _unlike  # asked wherever a value is assumed
    before, (_assumes_fewer, _unlike) = (_assumes_fewer, _unlike), (True, _UnlikeSizes() if unlike else None)
    try:
        yield
    finally:
        _assumes_fewer, _unlike = before


def assumed_size(most: int, mask: Tensor | None = None) -> int:
    """The assumed number of elements, of which there are this many; those that are not 0 in a `mask` if it has some."""
    if _unlike is not None:
        return _unlike.choose(most, mask)
    return most // 2 if _assumes_fewer else most


def assumed_number() -> int:
    """The assumed value of a whole number."""
    return 2 if _assumes_fewer else 1


def _make_integers(like: Tensor, *shape: int) -> Tensor:
    return torch.empty(shape, dtype=torch.int64, device=like.device)


def _guess_scalar(tensor: Tensor) -> tuple[Any, Any]:
    value: Any = 1.0 if tensor.is_floating_point() else assumed_number()
    value = is_checked() if tensor.dtype is torch.bool else value
    return value, value


def guess_nonzero(tensor: Tensor) -> tuple[Any, Any]:
    """Assume that no element is 0."""
    return _make_integers(tensor, assumed_size(tensor.numel(), tensor), tensor.dim()), "every element"


def _guess_masked_select(tensor: Tensor, mask: Tensor) -> tuple[Any, Any]:
    size = tensor.expand(mask.shape).numel() if mask.dim() > tensor.dim() else tensor.numel()
    return tensor.new_empty(assumed_size(size, mask if size == mask.numel() else None)), "every element"


def _guess_unique(tensor: Tensor, *_: Any, **__: Any) -> tuple[Any, Any]:
    n = assumed_size(tensor.numel())
    return (tensor.new_empty(n), _make_integers(tensor, *tensor.shape), _make_integers(tensor, n)), "all different"


def _guess_unique_dim(tensor: Tensor, dim: int, *_: Any, **__: Any) -> tuple[Any, Any]:
    most = tensor.shape[dim]
    n = assumed_size(most)
    kept = tensor.narrow(dim, 0, n)
    return (torch.empty_like(kept), _make_integers(tensor, most), _make_integers(tensor, n)), "all different"


def _guess_unique_consecutive(tensor: Tensor, *options: Any) -> tuple[Any, Any]:
    dims = [dim for dim in options[2:] if dim is not None]  # after two flags
    return _guess_unique_dim(tensor, *dims) if dims else _guess_unique(tensor)


def _guess_bincount(tensor: Tensor, weights: Tensor | None = None, minlength: int = 0) -> tuple[Any, Any]:
    dtype = torch.int64 if weights is None else torch.float32 if weights.dtype is torch.float32 else torch.float64
    n = max(int(minlength), assumed_number())
    return tensor.new_empty(n, dtype=dtype), f"{n} bins"


def _guess_index(tensor: Tensor, indices: Sequence[Tensor | None]) -> tuple[Any, Any]:
    """Assume that masks select every element."""
    picked: list[Tensor | None] = []
    for index in indices:
        if index is not None and index.dtype in MASKS:
            picked += [index.new_zeros(assumed_size(index.numel(), index), dtype=torch.int64)] * index.dim()
        else:
            picked.append(index)
    return aten.index.Tensor(tensor, picked), "every element"


def _guess_repeat_interleave(repeats: Tensor, *_: Any, **__: Any) -> tuple[Any, Any]:
    return _make_integers(repeats, assumed_size(repeats.numel())), "once each"


def guess_split(tensor: Tensor, sizes: Sequence[int], dim: int = 0) -> tuple[Any, Any]:
    """Split evenly, because sizes that were guessed separately may not add up."""
    n, total = len(sizes), tensor.shape[dim]
    if not n or set(sizes) != {assumed_number()}:
        return None, None
    shared = [total // n] * n
    shared[-1] += total % n
    if _assumes_fewer:
        taken = shared[0] // 2
        shared[0], shared[-1] = shared[0] - taken, shared[-1] + taken
    return aten.split_with_sizes.default(tensor, shared, dim), "even parts"


def _guess_grouped_mm(a: Tensor, b: Tensor, *_: Any, **__: Any) -> tuple[Any, Any]:
    """Run without torch's fake kernel, which requires bfloat16 although the shape doesn't depend on it."""
    is_grouped = a.dim() == 2 and b.dim() == 3  # noqa: PLR2004 (groups of rows times one matrix per group)
    return a.new_empty(a.shape[0], b.shape[2]) if is_grouped else None, None


def _guess_quantised(tensor: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
    """Return what torch's fake kernel returns from torch 2.12 on."""
    return torch.empty_like(tensor) if isinstance(tensor, Tensor) else None, None


GUESSES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "aten::_local_scalar_dense": _guess_scalar,
    "aten::allclose": lambda *_, **__: (False, False),
    "aten::equal": lambda *_, **__: (False, False),
    "aten::nonzero": guess_nonzero,
    "aten::masked_select": _guess_masked_select,
    "aten::_unique2": _guess_unique,
    "aten::unique_dim": _guess_unique_dim,
    "aten::unique_consecutive": _guess_unique_consecutive,
    "aten::bincount": _guess_bincount,
    "aten::index": _guess_index,
    "aten::repeat_interleave": _guess_repeat_interleave,
    "aten::_grouped_mm": _guess_grouped_mm,
    "aten::quantize_per_tensor": _guess_quantised,
    "aten::split_with_sizes": guess_split,
}
