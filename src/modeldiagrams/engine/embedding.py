"""Images that authors put at nodes: read from files, or made by functions of theirs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.options.options import is_function, is_graph_file
from modeldiagrams.overlay.images import read_image
from modeldiagrams.worker import Problem, Refused, Traced

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.engine.tracing import Tracing
    from modeldiagrams.options.options import Options
    from modeldiagrams.overlay.overlay import Image

__all__ = ["Embedded", "Make", "embedded", "maker", "without_model"]

Make: TypeAlias = Callable[[str], Traced | Refused]
"""Calls a function ``pkg.mod:attr`` of the author's with model, inputs and outputs."""


class Embedded(NamedTuple):
    """What became of the option `embed`."""

    images: dict[str, Image]
    """By pattern."""
    problems: list[OptionError]
    """Why others are missing."""
    sources: list[str]
    """Absolute files that decide on the images."""
    libraries: list[str]
    """Distributions that do so too."""


def maker(tracing: Tracing, options: Options) -> Make:
    """What calls functions for a diagram."""
    return without_model if is_graph_file(options.call.model) else functools.partial(tracing.image, options)


def without_model(_: str) -> Refused:
    """The answer where a graph is drawn and there is no model to call a function with."""
    message = "a graph file has no model to call a function with; write a picture file, or a model"
    return Refused(problem=Problem(kind="option", message=message))


def embedded(wanted: Mapping[str, Mapping[str, str]], folder: Path, make: Make) -> Embedded:
    """The images that an author wants.

    Args:
        wanted: The option `embed`.
        folder: Files are relative to it.
        make: Calls functions.
    """
    found = Embedded({}, [], [], [])
    for pattern, one in wanted.items():
        name = one["image"]
        try:
            if is_function(name):
                content = _made(make(name), found)
            else:
                found.sources.append(str((folder / name).absolute()))
                content = (folder / name).read_bytes()
            found.images[pattern] = read_image(content, one.get("alt") or f"Picture of {pattern}")
        except OSError as error:
            reason = f"{name}: {error.strerror or error}; expected the path of a PNG, JPEG or SVG file, as in links"
            found.problems.append(OptionError("embed", reason))
        except (ModelDiagramsError, ValueError) as error:
            problem = str(error)
            found.problems.append(OptionError("embed", problem if name in problem else f"{name}: {problem}"))
    return found


def _made(answer: Traced | Refused, found: Embedded) -> bytes:
    found.sources.extend(answer.sources)
    if isinstance(answer, Refused):
        where = f" ({answer.problem.frames[-1]})" if answer.problem.frames else ""
        raise ModelDiagramsError(f"{answer.problem.message}{where}")
    found.libraries.extend(answer.libraries)
    return answer.image
