"""Fewer layers of the same kinds: a configuration for a model that can't be run as it is by default (rule 2)."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["small_values"]

_FEW = {
    r"((num|n)_)?((hidden|encoder|decoder|text|vision|main|predictor|transformer)_)*layers?"
    r"|(\w+_)?num_(hidden_)?layers|(\w+_)?depth": 2,
    r"(moe_)?((num|n)_)((local|routed)_)?experts": 4,
    r"(num_)?experts_per_tok(en)?|num_selected_experts|moe_top_?k": 2,
}
"""Names of the numbers of layers and experts → how many are enough to show their kinds."""


def small_values(config: Any) -> dict[str, Any]:
    """Values for the option `config` that leave out most layers.

    Args:
        config: The default configuration. Widths stay as they are, because they depend on each other.

    Returns:
        Field → number, or the same for a configuration inside; empty if there is nothing to leave out.
    """
    values: dict[str, Any] = {}
    for name, value in vars(config).items():
        if hasattr(value, "model_type") and hasattr(value, "__dict__"):
            inside = small_values(value)
            if inside:
                values[name] = {"model_type": value.model_type, **inside}
        elif isinstance(value, int) and not name.startswith("_"):
            few = next((few for names, few in _FEW.items() if re.fullmatch(names, name)), value)
            if few < value:
                values[name] = few
    return values
