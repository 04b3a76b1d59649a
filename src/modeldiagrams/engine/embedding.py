"""Images that authors put at nodes: read from files, or made by functions of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.options.options import is_function
from modeldiagrams.overlay.images import image_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from modeldiagrams.overlay.overlay import Image

__all__ = ["embedded", "files_of", "no_function"]


def no_function(name: str) -> bytes:
    """For where no function is called."""
    raise OptionError("embed", f"expected a picture file, got the function {name}")


def files_of(wanted: Mapping[str, Mapping[str, str]], folder: Path) -> tuple[str, ...]:
    """The absolute files among the images that an author wants."""
    names = (one["image"] for one in wanted.values() if not is_function(one["image"]))
    return tuple(str((folder / name).absolute()) for name in names)


def embedded(
    wanted: Mapping[str, Mapping[str, str]], folder: Path, make: Callable[[str], bytes]
) -> tuple[dict[str, Image], list[OptionError]]:
    """The images that an author wants.

    Args:
        wanted: The option `embed`.
        folder: Files are relative to it.
        make: Calls a function for the content of a picture file.

    Returns:
        Pattern → image, and what is wrong with those that are missing.
    """
    found: dict[str, Image] = {}
    problems = []
    for pattern, one in wanted.items():
        name = one["image"]
        try:
            content = make(name) if is_function(name) else (folder / name).read_bytes()
            found[pattern] = image_of(content, one.get("alt") or f"Picture of {pattern}")
        except OSError as error:
            reason = f"{name}: {error.strerror or error}; expected the path of a PNG, JPEG or SVG file, as in links"
            problems.append(OptionError("embed", reason))
        except (ModelDiagramsError, ValueError) as error:
            problems.append(OptionError("embed", f"{name}: {error}"))
    return found, problems
