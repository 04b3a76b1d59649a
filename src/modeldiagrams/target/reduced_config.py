"""Fewer layers of the same kinds: a configuration for a model that can't be run as it is by default (rule 2)."""

from __future__ import annotations

from typing import Any

from modeldiagrams.target.inference.names import value_of

__all__ = ["small_values"]


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
            few = value_of("reduced_config", name)
            if few is not None and few < value:
                values[name] = few
    return values
