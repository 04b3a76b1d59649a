"""torchvision's own operators, for a torchvision whose binary part is for another build of torch and does not load.

They have the schemas of the real ones, so that the library registers their fake and differentiable forms itself. On
the CPU there is what detectors need: `nms`, and `roi_align` with one sample in the middle of each bin.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMAS = """
_cuda_version() -> int
nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
roi_align(Tensor input, {rois}, int sampling_ratio, bool aligned) -> Tensor
qroi_align(Tensor input, {rois}, int sampling_ratio, bool aligned) -> Tensor
_roi_align_backward(Tensor grad, {rois}, {sizes}, int sampling_ratio, bool aligned) -> Tensor
roi_pool(Tensor input, {rois}) -> (Tensor, Tensor)
_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {bins}, {sizes}) -> Tensor
ps_roi_align(Tensor input, {rois}, int sampling_ratio) -> (Tensor, Tensor)
_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {bins}, int sampling_ratio, {sizes}) -> Tensor
ps_roi_pool(Tensor input, {rois}) -> (Tensor, Tensor)
_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {bins}, {sizes}) -> Tensor
deform_conv2d(Tensor input, {weights}, {conv}) -> Tensor
_deform_conv2d_backward(Tensor grad, Tensor input, {weights}, {conv}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)
"""
_BINS = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_PARTS = {
    "rois": f"Tensor rois, {_BINS}",
    "bins": _BINS,
    "sizes": "SymInt batch_size, SymInt channels, SymInt height, SymInt width",
    "weights": "Tensor weight, Tensor offset, Tensor mask, Tensor bias",
    "conv": "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, "
    "SymInt groups, SymInt offset_groups, bool use_mask",
}
_LIBRARIES: list[torch.library.Library] = []
"""Operators go with their library."""


@contextmanager
def operators_in_place() -> Iterator[None]:
    """While torchvision is imported: it finds its operators, and has nothing to load."""
    library = torch.library.Library("torchvision", "DEF")
    _LIBRARIES.append(library)
    for schema in _SCHEMAS.format(**_PARTS).strip().splitlines():
        library.define(schema)
    library.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")
    library.impl("nms", _nms, "CPU")
    library.impl("roi_align", _roi_align, "CPU")
    with patch.object(torch.ops, "load_library", lambda _: None):
        yield


def _nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    waiting, kept = scores.argsort(descending=True).tolist(), []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while waiting:
        kept.append(first := waiting.pop(0))
        others = torch.tensor(waiting, dtype=torch.int64)
        low = torch.maximum(boxes[first, :2], boxes[others, :2])
        high = torch.minimum(boxes[first, 2:], boxes[others, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        overlap = shared / (area[first] + area[others] - shared)
        waiting = others[~(overlap > iou_threshold)].tolist()
    return torch.tensor(kept, dtype=torch.int64)


def _roi_align(images: Tensor, rois: Tensor, *options: Any) -> Tensor:
    scale, height, width, _, aligned = options
    size = torch.tensor([images.shape[3], images.shape[2]])
    low, high = rois[:, 1:3] * scale, rois[:, 3:5] * scale
    steps = [(torch.arange(count) + 0.5) / count for count in (width, height)]
    across = torch.stack(torch.meshgrid(*steps, indexing="xy"), -1)
    places = low[:, None, None] + across * (high - low)[:, None, None] - (0.5 if aligned else 0)
    grid = (places + 0.5) / size * 2 - 1
    pooled = images.new_zeros(len(rois), images.shape[1], height, width)
    for number, image in enumerate(images):
        mine = rois[:, 0] == number
        found = functional.grid_sample(
            image[None], grid[mine].reshape(1, -1, width, 2), padding_mode="border", align_corners=False
        )
        pooled[mine] = found[0].reshape(images.shape[1], int(mine.sum()), height, width).transpose(0, 1)
    return pooled
