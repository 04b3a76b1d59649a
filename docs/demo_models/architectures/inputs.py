"""Inputs that shapes alone don't tell."""

from __future__ import annotations

import torch
from torch import Tensor

IMAGE_TOKEN = 990
"""Stands in a text for a part of an image."""


def qwen2_vl_inputs() -> dict[str, Tensor]:
    """A text with an image of 4×4 patches, of which four and four become one token."""
    tokens = torch.tensor([[1, 2, *4 * [IMAGE_TOKEN], 3, 4]])
    return {
        "input_ids": tokens,
        "pixel_values": torch.zeros(16, 2 * 3 * 4 * 4),
        "image_grid_thw": torch.tensor([[1, 4, 4]]),
        "mm_token_type_ids": (tokens == IMAGE_TOKEN).long(),
    }
