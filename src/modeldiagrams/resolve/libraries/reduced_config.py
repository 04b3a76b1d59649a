"""Values for a configuration that can't be run with as it is by default (rule 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.names.tables import value_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["missing_values", "small_values"]


def small_values(config: Any) -> dict[str, Any]:
    """Values for the option `config` that leave out most layers: fewer of the same kinds.

    Args:
        config: The default configuration. Widths stay as they are, because they depend on each other.

    Returns:
        Field → number, or the same for a configuration inside; empty if there is nothing to leave out.
    """
    return _values(config, _fewer)


def missing_values(config: Any) -> dict[str, Any]:
    """Values for the option `config` that no pass can do without, and that nobody gives by default.

    Args:
        config: The default configuration.

    Returns:
        As for `small_values`; empty if nothing is missing.
    """
    return _values(config, _missing)


def _values(config: Any, change: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Those that are changed, also in configurations inside."""
    values: dict[str, Any] = {}
    for name, value in getattr(config, "__dict__", {}).items():
        if hasattr(value, "model_type") and hasattr(value, "__dict__"):
            inside = _values(value, change)
            changed = {"model_type": value.model_type, **inside} if inside else None
        else:
            changed = None if name.startswith("_") else change(name, value)
        if changed is not None:
            values[name] = changed
    return values


def _fewer(name: str, value: Any) -> Any:
    few = value_of("reduced_config", name) if isinstance(value, int) else None
    return few if few is not None and few < value else None


def _missing(name: str, value: Any) -> Any:
    return value_of("missing_in_config", name) if value is None else None
