"""Reads sizes from a Hugging Face configuration, by the names in ``names.yaml`` (rule 2)."""

from __future__ import annotations

import re
from typing import Any

from modeldiagrams.resolve.names.tables import table

__all__ = ["Configuration"]


class Configuration:
    """A configuration, and those inside it."""

    def __init__(self, config: Any) -> None:
        """Collect the configurations.

        Args:
            config: The outermost.
        """
        self._parts: list[tuple[str, Any]] = [("", config)]
        seen = {id(config)}
        for path, part in self._parts:
            for name, value in sorted(getattr(part, "__dict__", {}).items()):
                if _is_config(value) and id(value) not in seen:
                    seen.add(id(value))
                    self._parts.append((f"{path}.{name}", value))

    def get(self, quantity: str, section: str = "") -> tuple[str, Any]:
        """The value of the first field for a quantity that is set.

        Args:
            quantity: A row of the table ``config_fields``.
            section: A row of the table ``config_sections``: configurations at matching paths come first.

        Returns:
            Name, ``config.vision_config.image_size``, and value of the field; ``("", None)`` if there is none.
        """
        inside = table("config_sections").get(section)
        for path, part in sorted(self._parts, key=lambda part: not (inside and re.search(inside, part[0]))):
            for name in table("config_fields")[quantity]:
                value = getattr(part, name, None)
                if value is not None and not callable(value) and not isinstance(value, str):
                    return f"config{path}.{name}", value
        return "", None

    def number(self, quantity: str, section: str = "", default: int = 0) -> tuple[str, int]:
        """As `get`, for a whole number; the first of several where the value is a list."""
        field, value = self.get(quantity, section)
        value = value[0] if isinstance(value, list | tuple) and value else value
        return (field, value) if isinstance(value, int) and value > 0 else ("", default)

    def image(self) -> tuple[str, int, tuple[Any, Any]]:
        """The field with the size of an image, its channels, and its height and width."""
        field, value = self.get("image size", "vision")
        _, channels = self.number("image channels", "vision", 3)
        sides = _sides(value)
        return (field, channels, sides) if sides else ("", channels, ("<size>", "<size>"))


def _is_config(value: Any) -> bool:
    return type(value).__name__.endswith("Config") and hasattr(value, "__dict__") and hasattr(value, "model_type")


def _sides(value: Any) -> tuple[Any, Any] | None:
    """Height and width of an image size in any of the usual notations."""
    if isinstance(value, int) and value > 0:
        return value, value
    if isinstance(value, list | tuple):
        last = value[-2:]
        return (last[0], last[-1]) if last and all(isinstance(side, int) for side in last) else None
    if isinstance(value, dict) and isinstance(value.get("height"), int):
        return value["height"], value["width"]
    return None
