"""What calls of PyTorch take and return that transform signals, and those on complex numbers and sparse matrices."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.target.inference.symbolic.operands import (
    Args,
    Kwargs,
    argument,
    as_float,
    by,
    ids_below,
    kind_of,
    numbers_in,
)
from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape, closed, same, unified
from modeldiagrams.target.inference.symbolic.tensors import Handler, Kind, Reading, SymbolicTensor

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SIGNALS", "sparse_replaced"]

_PARTS = 2
"""Real and imaginary part."""


def _short_time(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``stft``: waves to frequencies and frames, and to both parts where they aren't asked for as one number."""
    as_float(args[0])
    window = argument(args, kwargs, 1, "n_fft")
    waves = r.shape_of(args[0])
    waves = waves if waves.rank == 1 else waves.of_rank(2)
    waves.at(-1).end().least = max(waves.at(-1).end().least, 2 * window)
    bands = window // 2 + 1 if argument(args, kwargs, 8, "onesided") is not False else window
    parts = (Dim(_PARTS),) if argument(args, kwargs, 9, "return_complex") is False else ()
    return r.tensor(closed(*waves.front[:-1], Dim(bands), Dim(), *parts), Kind("float32"))


def _short_time_back(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    shape = r.shape_of(args[0])
    length = argument(args, kwargs, 8, "length")
    return r.tensor(closed(*shape.front[:-2], r.dim(length) if length else Dim()), Kind("float32"))


def _frequencies(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """As many frequencies as there are places."""
    length, shape = argument(args, kwargs, 1, "n"), r.shape_of(args[0])
    if isinstance(length, int):
        shape = shape.replaced(argument(args, kwargs, 2, "dim", -1), r.dim(length))
    return r.tensor(shape, Kind("float32"))


def _half(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Frequencies of real numbers, of which half tell all."""
    as_float(args[0])
    length, dim = argument(args, kwargs, 1, "n"), argument(args, kwargs, 2, "dim", -1)
    last = dim if isinstance(dim, int) else [*dim][-1]
    shape = r.shape_of(args[0]).reaching(last)
    places = length if isinstance(length, int) else shape.at(last).end().value
    return r.tensor(shape.replaced(last, Dim(places // 2 + 1 if places else 0)), Kind("float32"))


def _half_back(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Real numbers of half the frequencies, as many as are asked for."""
    lengths, dim = numbers_in([argument(args, kwargs, 1, "n", kwargs.get("s", ()))]), argument(args, kwargs, 2, "dim")
    dims = numbers_in([dim]) or [*range(-max(1, len(lengths)), 0)]
    shape = r.shape_of(args[0]).reaching(dims[-1])
    if len(lengths) != len(dims):
        return r.tensor(shape.replaced(dims[-1], Dim()), Kind("float32"))
    for at, length in zip(dims, lengths, strict=True):
        shape = shape.replaced(at, r.dim(length))
    return r.tensor(shape, Kind("float32"))


def _joined_parts(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """``view_as_complex``: the last dimension has both parts of each number."""
    as_float(args[0])
    shape = r.shape_of(args[0]).reaching(-1)
    same(shape.at(-1), Dim(_PARTS))
    return r.tensor(shape.replaced(-1), Kind("complex64"))


def _both_parts(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    kind_of(args[0]).become("complex64")
    return r.tensor(r.shape_of(args[0]).inserted(-1, Dim(_PARTS)), Kind("float32"))


def _complex(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Numbers by their parts, or by their length and angle."""
    first, second = (*args, *kwargs.values())[:2]
    as_float(first)
    as_float(second)
    return r.tensor(unified(r.shape_of(first), r.shape_of(second)), Kind("complex64"))


def _magnitude(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """Real of complex numbers; whole ones stay whole, as distances between positions that a table has rows for."""
    is_complex = kind_of(args[0]).end().dtype == "complex64"
    return r.tensor(r.shape_of(args[0]), Kind("float32") if is_complex else kind_of(args[0]))


def _part(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[0]), Kind("float32"))


def _sparse_product(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    a, b = (r.shape_of(value) for value in args[:2])
    as_float(args[0])
    as_float(args[1])
    a, b = a.of_rank(2), b.of_rank(2)
    same(a.at(1), b.at(0))
    return r.tensor(closed(a.at(0), b.at(1)), Kind("float32"))


def _sparse_kept(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    return r.tensor(r.shape_of(args[0]), kind_of(args[0]))


@contextlib.contextmanager
def sparse_replaced() -> Iterator[None]:
    """Let the function that makes sparse matrices say what it takes: PyTorch doesn't ask tensors of classes of ours."""
    made = torch.sparse_coo_tensor
    torch.sparse_coo_tensor = lambda *args, **kwargs: _sparse(made, *args, **kwargs)
    try:
        yield
    finally:
        torch.sparse_coo_tensor = made


def _sparse(made: Any, indices: Any, values: Any = None, size: Any = None, **kwargs: Any) -> Any:
    given = next((each for each in (indices, values) if isinstance(each, SymbolicTensor)), None)
    if given is None:
        return made(indices, values, size, **kwargs)
    return SymbolicTensor.__torch_function__(_sparse_coo, (), (given, indices, values, size))


def _sparse_coo() -> None:
    """The name under which the reading knows `_sparse_of`."""


def _sparse_of(r: Reading, args: Args, kwargs: Kwargs) -> Any:
    """A sparse matrix by the places of its values."""
    _, indices, values, size = args
    sizes = [r.dim(each) for each in size] if size is not None else [Dim(), Dim()]
    ids_below(indices, min((dim.end().value for dim in sizes), default=0))
    places = r.shape_of(indices).of_rank(2)
    same(places.at(0), Dim(len(sizes)))
    if isinstance(values, torch.Tensor):
        unified(r.shape_of(values), closed(places.at(1)))
        as_float(values)
    return r.tensor(Shape((*sizes,)), Kind("float32"))


SIGNALS: dict[str, Handler] = {
    **by(_short_time, "stft"),
    **by(_short_time_back, "istft"),
    **by(_frequencies, "fft_fft fft_ifft"),
    **by(_part, "fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_fftshift fft_ifftshift angle"),
    **by(_magnitude, "abs absolute __abs__"),
    **by(_half, "fft_rfft fft_rfft2 fft_rfftn"),
    **by(_half_back, "fft_irfft fft_irfft2 fft_irfftn"),
    **by(_joined_parts, "view_as_complex"),
    **by(_both_parts, "view_as_real"),
    **by(_complex, "complex polar"),
    **by(_sparse_product, "sparse_mm hspmm"),
    **by(_sparse_kept, "conj resolve_conj conj_physical coalesce to_dense to_sparse to_sparse_coo to_sparse_csr"),
    **by(_sparse_of, "sparse_coo"),
}
