"""Reads the images of nodes from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.errors import OptionError
from modeldiagrams.overlay.image_files import read_image

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.overlay.overlay import Image

__all__ = ["Embedded", "embedded"]


class Embedded(NamedTuple):
    """The result of the option `embed`."""

    images: dict[str, Image]
    """By pattern."""
    problems: list[OptionError]
    """Why others are missing."""
    sources: list[str]
    """Absolute files that the images depend on."""


def embedded(wanted: Mapping[str, Mapping[str, str]], folder: Path) -> Embedded:
    """Read the images of a diagram.

    Args:
        wanted: The option `embed`.
        folder: The folder that files are relative to.
    """
    found = Embedded({}, [], [])
    for pattern, one in wanted.items():
        name = one["image"]
        found.sources.append(str((folder / name).absolute()))
        try:
            found.images[pattern] = read_image((folder / name).read_bytes(), one.get("alt") or f"Picture of {pattern}")
        except OSError as error:
            reason = f"{name}: {error.strerror or error}; expected the path of a PNG, JPEG or SVG file, as in links"
            found.problems.append(OptionError("embed", reason))
        except ValueError as error:
            found.problems.append(OptionError("embed", f"{name}: {error}"))
    return found
