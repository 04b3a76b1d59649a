"""Objects and mappings that a project describes without running: their values by key, and where each is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Tree", "Unreadable", "written"]

_SETTINGS = "modeldiagrams.target.objects.Settings"


class Unreadable(Exception):  # noqa: N818  (no failure: there are other places to read)
    """An expression whose value only a run would tell."""


@dataclass
class Tree:
    """What is known of an object."""

    values: dict[Any, Any]
    """By key or attribute; what can't be read is left out."""
    place: str = ""
    """Where it is written, if that is not where it is used."""
    places: dict[Any, str] = field(default_factory=dict)
    """The same of its values."""
    maker: str = ""
    """What makes it of its values: ``types.SimpleNamespace``; a plain mapping has none."""
    as_option: Any = None
    """How it is written, if not by its values."""
    is_whole: bool = True
    """Whether nothing is left out."""

    @property
    def is_mapping(self) -> bool:
        """Whether ``**`` gives all its values."""
        return self.maker in {"", _SETTINGS} and self.is_whole

    def place_of(self, key: Any) -> str:
        """Where a value is written."""
        return self.places.get(key, self.place)

    def as_settings(self) -> Tree:
        """The same where its values can be read as attributes, too, as of a configuration of OmegaConf."""
        values = {key: value.as_settings() if isinstance(value, Tree) else value for key, value in self.values.items()}
        return Tree(values, self.place, self.places, "" if "_target_" in values else _SETTINGS, None, self.is_whole)


def written(value: Any) -> Any:
    """A value as an option of a diagram.

    Raises:
        Unreadable: if a part of it can't be read.
    """
    match value:
        case Tree(as_option=option) if option is not None:
            return option
        case Tree(is_whole=False):
            raise Unreadable
        case Tree(values=values, maker=maker):
            plain = {key: written(item) for key, item in values.items()}
            return {"_target_": maker, **plain} if maker else plain
        case list():
            return [written(item) for item in value]
    return value
