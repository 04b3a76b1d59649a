"""Shows how a model changed from release to release, by its committed graph in all git tags."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from modeldiagrams.common.amounts import format_count, format_flops
from modeldiagrams.common.files import GRAPHS, get_graph_name
from modeldiagrams.engine.compare.difference import Difference, difference_by
from modeldiagrams.engine.compare.sides import git, graph_of, refuse_model, relative
from modeldiagrams.engine.compare.texts import escape_markdown
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.render.draw import build_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph

__all__ = ["TITLES", "History", "Release", "find_history", "list_tags", "read_committed_graph"]

State = Literal["first", "same", "changed", "missing", "failed"]

TITLES = ("Version", "Date", "Parameters", "FLOPs", "Changes")
UNRELEASED = "unreleased"

_WORDS = {"first": "first shown", "same": "as before", "missing": "no graph"}


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """The model in one tag, or its current state."""

    version: str
    """The tag; ``unreleased`` for the current graph file."""
    date: str
    """The date of the tag, as ``2026-11-23``; "" for the current state."""
    state: State
    """``first``: no earlier tag has the graph. ``missing``: an earlier tag has the graph, but not this one."""
    parameters: int | None = None
    flops: int | None = None
    """None if not counted, or without a graph."""
    flops_sign: str = ""
    """``≤`` or ``≈`` if the FLOPs depend on assumed sizes."""
    problem: str = ""
    """The reason for ``failed``: no graph, or no comparison."""
    difference: Difference | None = None
    """The changes since the previous version with a graph; None if nothing changed."""

    def changes(self) -> list[str]:
        """Describe the changes in this release, one sentence each."""
        return self.difference.summarise() if self.difference else [_WORDS.get(self.state, self.problem)]

    def cells(self) -> tuple[str, str, str, str]:
        """Return the texts of the other columns of a table."""
        parameters = "–" if self.parameters is None else format_count(self.parameters)
        flops = "–" if self.flops is None else f"{self.flops_sign} {format_flops(self.flops)}".strip()
        return self.version, self.date, parameters, flops


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A model in all releases, the oldest first."""

    format: Literal["modeldiagrams-history"] = "modeldiagrams-history"
    version: str = "1.1"
    model: str
    releases: tuple[Release, ...]

    def to_json(self) -> str:
        """Encode as JSON in the format ``modeldiagrams-history``, with differences in the format of `diff`."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def to_text(self) -> str:
        """Format as text for a terminal."""
        rows = [(*release.cells(), release.changes()) for release in self.releases]
        widths = [max(map(len, column)) for column in zip(TITLES[:-1], *(row[:-1] for row in rows), strict=True)]
        pads = (str.ljust, str.ljust, str.rjust, str.rjust)

        def line(cells: tuple[str, ...], last: str) -> str:
            return "  ".join([*(pad(cell, width) for pad, cell, width in zip(pads, cells, widths, strict=True)), last])

        lines = [self.model, line(TITLES[:-1], TITLES[-1])]
        for *cells, changes in rows:
            lines.append(line(tuple(cells), changes[0]).rstrip())
            lines += [line(("",) * len(cells), change) for change in changes[1:]]
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Format as a Markdown table."""
        rows = [
            [*map(escape_markdown, release.cells()), "<br>".join(map(escape_markdown, release.changes()))]
            for release in self.releases
        ]
        lines = [TITLES, ("---", "---", "---:", "---:", "---"), *rows]
        return "\n".join([f"### {escape_markdown(self.model)}", "", *(f"| {' | '.join(line)} |" for line in lines)])


class _Tag(NamedTuple):
    name: str
    date: str


def read_committed_graph(model: str, folder: Path) -> Path:
    """Find the snapshot of a model.

    Args:
        model: The model's name on pages.
        folder: The folder of snapshots.

    Raises:
        ModelDiagramsError: if there is none, or several because pages call the model in several ways.
    """
    for exact in (folder / f"{model}{ending}" for ending in GRAPHS):
        if exact.is_file():
            return exact
    found = sorted(path for ending in GRAPHS for path in folder.glob(f"{model.replace(':', '.')}-????????{ending}"))
    if len(found) == 1:
        return found[0]
    names = ", ".join(path.name for path in found)
    problem = (
        f"there are several: {names}; name one of them"
        if found
        else "`modeldiagrams snapshot` writes it; if the documentation keeps its graphs elsewhere, name the file"
    )
    raise ModelDiagramsError(f"{folder.name}: expected the graph of {model}; {problem}")


def find_history(
    graph: Path, since: str | None = None, compare: Callable[[bytes, bytes], str] = build_difference
) -> History:
    """Read a committed graph in every git tag that leads to the current commit, and compare each with the one before.

    Args:
        graph: The graph file. Its current content counts as a release if it differs from the last tag.
        since: A revision; tags that don't contain it are left out.
        compare: As in `difference_by`.

    Raises:
        ModelDiagramsError: if the folder, the revision or tags don't exist, or no tag has the graph.
    """
    if not graph.parent.is_dir():
        raise ModelDiagramsError(f"{graph}: expected a graph file, but there is no such folder")
    reader = _ReleaseReader(graph, compare)
    found = list(reader.releases(list_tags(graph.parent, since)))
    if not any(release.parameters is not None for release in found):
        raise ModelDiagramsError(
            f"{graph.name}: expected this file in a git tag{f' since {since}' if since else ''}; graphs have to be"
            " committed before a release is tagged"
        )
    return History(model=reader.model, releases=tuple(found))


class _ReleaseReader:
    """Reads the graph of one version after the other, and compares it with the previous one."""

    def __init__(self, file: Path, compare: Callable[[bytes, bytes], str]) -> None:
        self.file = file
        self.model = get_graph_name(file)
        self._compare = compare
        self._last: Graph | None = None

    def releases(self, tags: list[_Tag]) -> Iterator[Release]:
        """Yield all releases since the first with a graph."""
        is_there = True
        for tag in tags:
            side = f"git:{tag.name}:{self.file.name}"
            read = partial(graph_of, side, refuse_model, self.file.parent)
            is_there = bool(git(["ls-tree", "--name-only", tag.name, "--", self.file.name], side, self.file.parent))
            if is_there:
                yield self._release(tag, read)
            elif self._last:
                yield Release(version=tag.name, date=tag.date, state="missing")
        if self.file.is_file():
            now = self._release(_Tag(UNRELEASED, ""), partial(graph_of, str(self.file.absolute()), refuse_model))
            if now.state != "same" or not is_there:
                yield now

    def _release(self, tag: _Tag, read: Callable[[], Graph]) -> Release:
        release = Release(version=tag.name, date=tag.date, state="failed")
        try:
            graph = read()
        except ModelDiagramsError as error:
            return msgspec.structs.replace(release, problem=relative(error, self.file.parent))
        before, self.model = self._last, graph.model.name
        if graph.status.state == "complete":
            self._last = graph
        bounds = bounds_of(graph)
        release = msgspec.structs.replace(
            release,
            parameters=graph.model.parameters.total,
            flops=graph.model.flops,
            flops_sign=bounds.cost_sign if None in bounds.flops else "",
        )
        if before is None and self._last:
            return msgspec.structs.replace(release, state="first")
        try:
            difference = difference_by(self._compare, before or graph, graph)
        except ModelDiagramsError as error:
            return msgspec.structs.replace(release, problem=f"not compared: {error}")
        if difference.same and not difference.reservations:
            return msgspec.structs.replace(release, state="same")
        return msgspec.structs.replace(release, state="changed", difference=difference)


def list_tags(folder: Path, since: str | None = None) -> list[_Tag]:
    """Return the tags that lead to the current commit, by date and version number."""
    if since is not None and since.startswith("-"):
        raise ModelDiagramsError(f"{since}: expected a git revision")
    listed = git(
        [
            "for-each-ref",
            "--merged=HEAD",
            *([f"--contains={since}"] if since else []),
            "--sort=version:refname",
            "--sort=creatordate",
            "--format=%(refname:strip=2) %(creatordate:short)",
            "refs/tags",
        ],
        f"{since or 'HEAD'}: expected a git revision",
        folder,
    ).decode("utf-8", "replace")
    tags = [_Tag(*line.rsplit(" ", 1)) for line in listed.splitlines()]
    if not tags:
        raise ModelDiagramsError(
            f"expected git tags{f' since {since}' if since else ''} that lead to the current commit; if this is a"
            " shallow clone, `git fetch --unshallow --tags` gets them"
        )
    return tags
