"""Samples what flows through a model: runs its pass again with real values and reads every tensor."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from typing import TYPE_CHECKING

import msgspec
import torch
from torch.nn.functional import adaptive_avg_pool2d

from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.samples import Samples, TensorSample
from modeldiagrams.tracer.torch_facts.private_api import no_dispatch_modes, unseen_by_modes

if TYPE_CHECKING:
    from torch import Tensor

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.tracer import Trace
    from modeldiagrams.tracer.recording.op_recorder import OpRecorder
    from modeldiagrams.tracer.values.pass_records import Value

__all__ = ["add_samples"]

_DIGITS = 4
"""Significant digits, which different processors agree on."""
_SIDE = 36
"""The maximum width and height of a picture: with one byte per pixel, it has at most 2 kB in base64."""
_LEAST_SIDE = 4
_BUDGET = 150_000
"""The maximum size of all pictures of a graph together, in bytes."""
_RAN_OTHERS = "Values were sampled in a pass with real values, which ran other operations than those shown"
_IMAGE_CHANNELS = {1, 3, 4}
_MAKES_MAPS = ("conv", "pool", "interpolate", "upsample", "pixel_shuffle", "grid_sample")
"""In names of ops whose results are maps; maps of the same height and width are recognised afterwards."""


def add_samples(graph: Graph, trace: Trace, *, random_inputs: bool) -> Graph:
    """Add samples to a graph.

    Args:
        graph: The graph of the pass, perhaps completed.
        trace: The pass, which runs once more with real values.
        random_inputs: As in `Samples`.

    Returns:
        The graph with `samples`, or with a note that says why there are none.
    """
    if trace.rerun is None:
        return _explain(graph, "the model raised an exception" if graph.status.error else "no pass was run")
    sampler = _Sampler()
    try:
        ran, _ = trace.rerun(sampler.prepare, real=True)
    except Exception as error:  # noqa: BLE001  (the graph is right without samples)
        return _explain(graph, f"{type(error).__name__}: {error}")
    if failure := ran.status.error:
        return _explain(graph, f"with real values, the model raised {failure.type}: {failure.message}")
    found = {value.id: sample for value, sample in sampler.samples.items()}
    same = {name: sample for name, sample in found.items() if _is_same(name, graph, ran)}
    if not same:
        return _explain(graph, "no tensor has values")
    if ran.by_id.keys() != graph.by_id.keys():
        graph = _add_note(graph, _RAN_OTHERS)
    shown = _choose_pictures(graph, same)
    left_out = sum(bool(sample.picture) for sample in same.values()) - len(shown)
    kept = {name: sample if name in shown else _without_picture(sample) for name, sample in same.items()}
    samples = Samples(
        tensors={name: kept[name] for name in graph.tensors if name in kept},
        random_inputs=random_inputs,
        without_picture=left_out,
    )
    return msgspec.structs.replace(graph, samples=samples)


def _is_same(tensor: str, graph: Graph, ran: Graph) -> bool:
    """Whether a line of code makes a tensor in both passes: where values decide, ids alone may mean other ops."""
    if tensor not in graph.tensors or tensor not in ran.tensors:
        return False
    specs, makers = zip(
        *((one.tensors[tensor], one.by_id[tensor.rpartition(":")[0]]) for one in (graph, ran)), strict=True
    )
    sources = {getattr(maker, "source", None) for maker in makers}
    return specs[0].dtype == specs[1].dtype and len(sources) == 1


def _explain(graph: Graph, reason: str) -> Graph:
    return _add_note(graph, f"Values were not sampled: {reason}")


def _add_note(graph: Graph, note: str) -> Graph:
    notes = (*graph.status.notes, note)
    return msgspec.structs.replace(graph, status=msgspec.structs.replace(graph.status, notes=notes))


def _without_picture(sample: TensorSample) -> TensorSample:
    return msgspec.structs.replace(sample, picture="", averaged=1, darkest=0, brightest=0)


def _choose_pictures(graph: Graph, samples: dict[str, TensorSample]) -> set[str]:
    """Choose the pictures that fit: first of inputs, then of what outer modules return, then of what ops return."""
    depths: dict[str, float] = {name: 0 for name in samples if name.startswith("input:")}
    for node in graph.nodes:
        if isinstance(node, ModuleNode):
            for tensor in node.outputs.values():
                depths[tensor] = min(depths.get(tensor, math.inf), node.path.count(".") + 1)
    chosen, size = set(), 0
    for name in sorted(samples, key=lambda name: depths.get(name, math.inf)):
        length = len(samples[name].picture)
        if length and size + length <= _BUDGET:
            chosen.add(name)
            size += length
    return chosen


class _Sampler:
    """Reads tensors while a pass runs."""

    def __init__(self) -> None:
        self.samples: dict[Value, TensorSample] = {}
        self._sides: set[tuple[int, ...]] = set()
        """Heights and widths of the maps so far."""

    def prepare(self, recorder: OpRecorder) -> None:
        """Read the values that a recorder sees."""
        recorder.on_value = self.read

    def read(self, value: Value, tensor: Tensor) -> None:
        """Read a tensor, unless it has no values that can be read, as those of a meta tensor."""
        n_threads = torch.get_num_threads()
        torch.set_num_threads(1)  # several take longer for so little work, and sums depend on their number
        try:
            with unseen_by_modes(), no_dispatch_modes(), torch.no_grad():
                sample = self._sample(value, tensor.detach().cpu())
        except Exception:  # noqa: BLE001  (of subclasses, too; other tensors still have values)
            return
        finally:
            torch.set_num_threads(n_threads)
        if sample is not None:
            self.samples[value] = sample

    def _sample(self, value: Value, tensor: Tensor) -> TensorSample | None:
        if tensor.is_complex() or tensor.layout is not torch.strided or not tensor.numel():
            return None
        numbers = (tensor.dequantize() if tensor.is_quantized else tensor).to(torch.float64)
        finite = numbers.flatten()
        nan = inf = 0
        if not math.isfinite(finite.sum()):  # seldom
            finite = finite[finite.isfinite()]
            nan = int(numbers.isnan().sum())
            inf = numbers.numel() - finite.numel() - nan
        zeros = _round(1 - int(numbers.count_nonzero()) / numbers.numel())
        if not finite.numel():
            return TensorSample(zeros=zeros, nan=nan, inf=inf)
        spread, center = (float(one) for one in torch.std_mean(finite, correction=0))
        if not math.isfinite(spread):  # squares overflow; numbers up to 1 don't
            size = float(finite.abs().max())
            spread, center = (float(one) * size for one in torch.std_mean(finite / size, correction=0))
        mean = _round(center, max(abs(center), spread))
        std, least, most = (_round(float(one)) for one in (spread, *finite.aminmax()))
        sample = TensorSample(mean=mean, std=std, min=least, max=most, zeros=zeros, nan=nan, inf=inf)
        maps = self._find_maps(value, numbers) if tensor.is_floating_point() else None
        return sample if maps is None else _add_picture(sample, maps)

    def _find_maps(self, value: Value, numbers: Tensor) -> Tensor | None:
        """Return the maps of the first entry of the batch, (number, height, width), if the tensor has some."""
        name = value.id.rpartition("/")[2]
        is_square = numbers.shape[-1] == numbers.shape[-2] if numbers.ndim > 2 else False  # noqa: PLR2004  (a batch)
        if "softmax" in name and is_square:
            return _as_maps(numbers[0])
        is_image = value.id.startswith("input:") and numbers.ndim == 4 and numbers.shape[1] in _IMAGE_CHANNELS  # noqa: PLR2004
        if numbers.ndim < 4:  # noqa: PLR2004  (batch, channels, height, width)
            return None
        first = numbers[0]
        if is_image or any(word in name for word in _MAKES_MAPS) or tuple(first.shape[-2:]) in self._sides:
            maps = first
        elif tuple(first.shape[:2]) in self._sides and first.ndim == 3:  # noqa: PLR2004  (channels last)
            maps = first.movedim(-1, 0)
        else:
            return None
        if min(maps.shape[-2:]) < _LEAST_SIDE:
            return None
        self._sides.add(tuple(maps.shape[-2:]))
        return _as_maps(maps)


def _as_maps(numbers: Tensor) -> Tensor | None:
    """Join all dimensions before the last two."""
    return None if min(numbers.shape[-2:]) < _LEAST_SIDE else numbers.reshape(-1, *numbers.shape[-2:])


def _add_picture(sample: TensorSample, maps: Tensor) -> TensorSample:
    mean = maps.nan_to_num(0, 0, 0).mean(0)
    longest = max(mean.shape)
    if longest > _SIDE:
        height, width = (max(1, round(side * _SIDE / longest)) for side in mean.shape)
        mean = adaptive_avg_pool2d(mean[None], (height, width))[0]
    least, most = float(mean.min()), float(mean.max())
    if not math.isfinite(most - least):
        return sample
    levels = ((mean - least) / (most - least or 1) * 255).round().to(torch.uint8)
    return msgspec.structs.replace(
        sample,
        picture=base64.b64encode(_to_png(levels)).decode(),
        averaged=maps.shape[0],
        darkest=_round(least),
        brightest=_round(most),
    )


def _to_png(levels: Tensor) -> bytes:
    """Encode levels of grey, (height, width), as PNG: https://www.w3.org/TR/png-3/."""
    height, width = levels.shape
    rows = b"".join(b"\0" + bytes(row) for row in levels.tolist())
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _round(number: float, scale: float | None = None) -> float:
    """Round to the digits that a number of this scale, by default the number itself, has: a mean of 1e-9 may be 0."""
    size = abs(number if scale is None else scale)
    try:
        return round(number, _DIGITS - 1 - math.floor(math.log10(size))) + 0.0 if size else 0.0
    except OverflowError:  # the largest number of float64 rounds up to infinity
        return number
