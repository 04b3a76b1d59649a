"""A finished diagram, its stable id, and its problem."""

import bisect
import itertools
import re
from collections.abc import Sequence

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.text import readable
from modeldiagrams.options.options import Options, is_graph_file
from modeldiagrams.render.draw import Picture
from modeldiagrams.worker import Problem

__all__ = ["Diagram", "Problem", "diagram_id", "forward_problem", "in_words"]

_LONGEST_MESSAGE = 600
_LONGEST_TEXT = 850
"""Characters of a warning, beside what the documentation tool puts before it."""

_CLASS_PATH = re.compile(r"([^.A-Z]+\.)*_*[A-Z][^.]*")


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """A traced and drawn model, or why there is none."""

    id: str
    """Name of the diagram's files; in one site, equal ids mean equal content."""
    options: Options
    graph: Graph | None = None
    picture: Picture | None = None
    problem: Problem | None = None
    """May come with a picture: of a pass up to where it raised."""
    sources: tuple[str, ...] = ()
    """Absolute files; the diagram is outdated when one of them changes."""
    libraries: tuple[str, ...] = ()
    """Distributions whose upgrade may change the diagram, apart from torch."""
    names: dict[str, tuple[str, ...]] = {}
    """Class → shorter names of the same class, under which it may be documented."""

    own_names: tuple[str, ...] = ()
    """Under which references find the diagram, besides what its author wrote."""

    @property
    def shown_problem(self) -> Problem | None:
        """The problem that the page shows; an outdated snapshot is only reported to the authors."""
        return None if self.problem and self.problem.kind == "snapshot" else self.problem


def diagram_id(options: Options, *, has_case_variant: bool = False) -> str:
    """A stable name for a diagram's files.

    It is the model's path. A digest follows if other options decide on the content as well, and for a path that is not
    written like a class (`pkg.Net`): some file systems don't distinguish it from `pkg.net`, a factory.

    Args:
        options: What the author wrote.
        has_case_variant: Whether the module has another class whose name differs in case only (`pkg.NET`).
    """
    limits, asdict = options.limits, msgspec.structs.asdict
    content = {**asdict(options.call), "device": limits.device, "python": limits.python, **asdict(options.view)}
    written = {name: value for name, value in content.items() if value is not None}
    path = options.call.model.replace(":", ".")
    name = re.sub(r"[^\w.-]+", "-", path).strip(".-")
    is_usual = path == path.lower() if is_graph_file(options.call.model) else _CLASS_PATH.fullmatch(path)
    if len(written) == 1 and name == path and is_usual and not has_case_variant:
        return name
    return f"{name}-{digest(repr(written).encode(), size=4)}"


def in_words(problem: Problem) -> str:
    """A problem for a log or a terminal: what happened, and where in user code. Of too much, the last lines stay."""
    message = readable(problem.message.strip())
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[: _LONGEST_MESSAGE - 1]}…"
    room = _LONGEST_TEXT - len(message) - len(problem.remark)
    frames = _last_that_fit(problem.frames, room)
    printed = _last_that_fit(problem.printed, room - sum(map(len, frames)))
    lines = [message, *frames, *(["its last output:"] if printed else []), *printed, problem.remark]
    return "\n  ".join(line for text in lines for line in text.splitlines())


def _last_that_fit(texts: Sequence[str], room: int) -> list[str]:
    """As many lines from the end as have room."""
    lines = [*map(readable, texts)]
    lengths = itertools.accumulate(len(line) for line in reversed(lines))
    count = bisect.bisect_right([*lengths], room)
    return lines[len(lines) - count :]


def forward_problem(model: str, graph: Graph) -> Problem | None:
    """The problem of a graph: its model raised, or no inputs were found."""
    error = graph.status.error
    if graph.status.state == "hierarchy" and graph.status.notes:
        return Problem(kind="inputs", message=graph.status.notes[0])
    if error is None:
        return None
    frames = tuple(f"{frame.file}:{frame.line} in {frame.function}" for frame in error.frames)
    message = f"the forward pass of {model} raised {error.type}: {error.message}".removesuffix(": ")
    return Problem(kind="forward", message=message, frames=frames)
