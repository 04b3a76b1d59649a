"""Values as an author would write them: tensors → entries of the option `inputs` → YAML on one line."""

from __future__ import annotations

from typing import Any

import torch
import yaml
from torch import Tensor

from modeldiagrams.options.reading import yaml_line

__all__ = ["entry_of", "is_plain"]


def entry_of(value: Any) -> Any:
    """An entry of the option `inputs` that makes a value like this one.

    Args:
        value: Tensors and plain values, nested in lists, tuples and dicts to any depth.

    Returns:
        The entry. Shapes, dtypes and the range of whole numbers are kept, random numbers are not. What can't be written
        stays in it as it is, see `is_plain`.
    """
    match value:
        case Tensor() if not value.is_nested and value.layout is torch.strided:
            return _tensor(value)
        case list() | tuple() if value:
            return [entry_of(item) for item in value]
        case dict() if (
            value and "shape" not in value and value.keys() != {"value"}
        ):  # these would be read as one tensor
            return {key: entry_of(item) for key, item in value.items()}
    return {"value": value}


def is_plain(entry: Any) -> bool:
    """Whether an entry can be written down: no objects, no sparse tensors in it."""
    try:
        yaml_line(entry)
    except yaml.YAMLError:
        return False
    return True


def _tensor(value: Tensor) -> Any:
    shape, dtype = list(value.shape), str(value.dtype).removeprefix("torch.")
    if value.is_floating_point() or value.is_complex():
        return shape if dtype == "float32" and shape else {"shape": shape, "dtype": dtype}
    if not value.numel() or value.is_meta:
        return {"shape": shape, "dtype": dtype}
    whole = value.to(torch.int64)
    return {"shape": shape, "dtype": dtype, "low": int(whole.min()), "high": int(whole.max()) + 1}
