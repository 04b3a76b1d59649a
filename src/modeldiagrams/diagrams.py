"""The one door for documentation tools: options in, a finished diagram or a described problem out.

Nothing here imports torch, runs user code or starts V8: a `Worker` does, and only for what the `Cache` does not have.
"""

import hashlib
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from modeldiagrams.cache import TRACE_OPTIONS, Cache, Surroundings, graph_key, picture_key
from modeldiagrams.errors import GraphError, ModelDiagramsError, OptionError, RenderError, WorkerError
from modeldiagrams.graph import Graph
from modeldiagrams.installed import has_torch, surroundings
from modeldiagrams.options import Options
from modeldiagrams.patterns import unmatched_in
from modeldiagrams.render import Picture, view_of
from modeldiagrams.serialize import deserialize
from modeldiagrams.snapshots import Snapshots
from modeldiagrams.worker import NO_TORCH, Kind, Problem, Refused, Traced, Worker

__all__ = ["Diagram", "Maker", "Problem", "diagram_id", "forward_problem"]

_KINDS: dict[type[ModelDiagramsError], Kind] = {OptionError: "option", RenderError: "render"}
_CLASS_PATH = re.compile(r"([^.A-Z]+\.)*_*[A-Z][^.]*")
_LASTING = frozenset({"model", "inputs", "forward"})
"""Kinds of problems that come again while nothing changes. A model that took too long may be faster next time."""
_ANSWER: Any = Traced | Refused  # a union is a type to msgspec, not to mypy
Workers = dict[tuple[str | None, bool], Worker]
_CONTENT_OPTIONS = (*TRACE_OPTIONS, "device", "python", "depth", "expand", "collapse", "direction")


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one author's request."""

    id: str
    """Names the diagram's files; in one site, equal ids are equal content."""
    options: Options
    graph: Graph | None = None
    picture: Picture | None = None
    problem: Problem | None = None
    """Also where there is a picture: of a pass that raised, up to there."""
    sources: tuple[str, ...] = ()
    """Absolute files; when one of them changes the diagram has to be made anew."""
    libraries: tuple[str, ...] = ()
    """Distributions that the model is made of, torch apart; an upgrade is a change, too."""
    names: dict[str, tuple[str, ...]] = {}
    """Class → shorter names of the very same class, under which it may be documented."""

    @property
    def shown_problem(self) -> Problem | None:
        """What readers are told; that a snapshot is out of date is the authors' business, the picture is not."""
        return None if self.problem and self.problem.kind == "snapshot" else self.problem


class _Traced(msgspec.Struct, frozen=True, kw_only=True):
    """A graph on its way to a picture."""

    graph: Graph
    content: bytes
    """Its JSON text."""
    sources: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    names: dict[str, tuple[str, ...]] = {}
    has_twin: bool = False
    problem: Problem | None = None


class Maker:
    """Makes diagrams. Owns the tracing process and the cache; use it with ``with``, or `close` it.

    Attributes:
        folder: Graph files are relative to it.
        output: What the last model printed, if it was run at all.
        on_trace: Called with the name of every model that is about to be run, which may take a while.
        workers: Interpreter, and whether a GPU is asked for → the tracing process.
    """

    def __init__(
        self,
        cache_dir: Path | None,
        *,
        folder: Path,
        paths: Sequence[Path] = (),
        snapshots: Path | None = None,
        workers: Workers | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            cache_dir: Where graphs and pictures are kept between builds; None keeps nothing.
            folder: Of the documentation; graph files are relative to it.
            paths: Folders to import models from, before those of this process's ``sys.path``. A relative
                interpreter (option `python`) is looked up from the first, or else from `folder`.
            snapshots: Folder of graphs to take where torch is not installed.
            workers: Those of a maker before this one, to go on with.
        """
        self.output = ""
        self.on_trace: Callable[[str], object] | None = None
        self._cache = Cache(cache_dir) if cache_dir else None
        self.folder = folder
        self._paths = tuple(paths)
        self._snapshots = Snapshots(snapshots) if snapshots else None
        self.workers = {} if workers is None else workers

    def make(
        self, options: Options, written: Options | None = None, accepted: Collection[str] = frozenset()
    ) -> Diagram:
        """Trace, or read, and draw one model.

        Args:
            options: What the author wrote, and the site's values for what is not mentioned.
            written: What the author wrote, if that is less. Names come of this alone: they are to be the same in the
                next version of a site, which may have other values.
            accepted: Kinds of problems that nobody is going to mend: they are remembered as graphs are, until a source
                changes or there is something new to import.

        Returns:
            The diagram. Whatever a model does is told in its `problem`, and never raised.
        """
        self.output = ""
        written = written or options
        diagram = Diagram(id=diagram_id(written), options=options)
        try:
            traced = (
                self._read(options)
                if _is_graph_file(options)
                else self._trace(options, _snapshot_name(written), accepted)
            )
            if isinstance(traced, Refused):
                return msgspec.structs.replace(diagram, problem=traced.problem, sources=traced.sources)
            diagram = msgspec.structs.replace(
                diagram,
                id=diagram_id(written, has_twin=traced.has_twin),
                graph=traced.graph,
                sources=traced.sources,
                libraries=traced.libraries,
                names=traced.names,
                problem=traced.problem,
            )
            diagram = msgspec.structs.replace(diagram, picture=self._draw(traced.content, options))
        except ModelDiagramsError as error:
            return _with_problem(diagram, error)
        idle = unmatched_in(traced.graph, options.expand, options.collapse, options.direction)
        return _with_problem(diagram, idle) if idle else diagram

    def close(self) -> None:
        """End the tracing process, and keep the cache small."""
        for worker in self.workers.values():
            worker.close()
        if self._cache:
            self._cache.trim()

    def renew(self) -> None:
        """As `close`, for who is going to make edited models: the next tracing process gets ready meanwhile."""
        for worker in self.workers.values():
            worker.renew()
        if self._cache:
            self._cache.trim()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def interpreter(self, options: Options) -> str | None:
        """The interpreter that runs a model; None for this process's."""
        if options.python is None or Path(options.python).name == options.python:
            return options.python and (shutil.which(options.python) or options.python)
        # not resolved: an environment's interpreter is a link out of it
        return str((self._paths[0] if self._paths else self.folder).absolute() / Path(options.python).expanduser())

    def _surroundings(self, python: str | None) -> Surroundings:
        return lambda files: surroundings([*self._paths, *(Path(file).parent for file in files)], python)

    def _read(self, options: Options) -> _Traced | Refused:
        """Read a graph file."""
        for name in TRACE_OPTIONS[1:]:
            if getattr(options, name) is not None:
                raise OptionError(name, f"{options.model} is a graph file, so there is nothing to call; leave it out")
        path = (self.folder / options.model).absolute()
        if self._snapshots:
            self._snapshots.note_mention(path, traced=False)
        # messages have the name as the author wrote it: none shows where on a machine the documentation lies
        return _read_graph(path, options.model)

    def _trace(self, options: Options, name: str, accepted: Collection[str]) -> _Traced | Refused:
        """Take a graph from the cache, or trace it; without torch, take the snapshot of this name."""
        snapshot = self._snapshots.path(name).absolute() if self._snapshots else None
        if self._snapshots and snapshot:
            self._snapshots.note_mention(snapshot, traced=True)
        python = self.interpreter(options)
        if snapshot and snapshot.is_file() and not (shutil.which(python) if python else has_torch()):
            return _read_graph(snapshot, f"{snapshot.parent.name}/{snapshot.name}")
        if python is None and not has_torch():
            return Refused(problem=Problem(kind="worker", message=f"{options.model} can't be traced. {NO_TORCH}"))
        traced = self._trace_or_cached(options, _LASTING.intersection(accepted))
        if isinstance(traced, Refused) or self._snapshots is None or snapshot is None:
            return traced
        drift = self._snapshots.compare(name, traced.graph)
        problem = traced.problem or (Problem(kind="snapshot", message=drift) if drift else None)
        sources = (*traced.sources, str(snapshot)) if snapshot.is_file() else traced.sources
        return msgspec.structs.replace(traced, problem=problem, sources=sources)

    def _trace_or_cached(self, options: Options, accepted: Collection[str]) -> _Traced | Refused:
        python = self.interpreter(options)
        key = graph_key(msgspec.structs.replace(options, python=python), self.folder)
        cached = self._cache.graph(key) if self._cache else None
        if cached:
            return _Traced(**msgspec.structs.asdict(cached))
        failure = self._cache.failure(key, self._surroundings(python)) if self._cache and accepted else None
        if failure:
            return _traced(msgspec.json.decode(failure, type=_ANSWER), options.model)
        worker = self._worker(python, gpu=options.device not in {None, "cpu"})
        if self.on_trace:
            self.on_trace(options.model)
        start = time.time_ns()
        try:
            answer = worker.trace(options, self._paths)
        finally:
            self.output = worker.output
        traced = _traced(answer, options.model)
        # a source that was edited meanwhile is not what was traced: try again next time
        if self._cache is None or _is_any_newer(answer.sources, start):
            return traced
        if isinstance(answer, Traced) and isinstance(traced, _Traced) and traced.graph.status.state != "partial":
            self._cache.add_graph(key, answer, python)
        # what made a pass fail may lie outside of the sources, so most are tried again
        elif traced.problem and traced.problem.kind in accepted:
            self._cache.add_failure(key, msgspec.json.encode(answer), answer.sources, self._surroundings(python))
        return traced

    def _draw(self, content: bytes, options: Options) -> Picture:
        """Take a picture from the cache, or draw it."""
        view = view_of(options)
        key = picture_key(content, view)
        picture = self._cache.picture(key) if self._cache else None
        if picture is None:
            picture = self._worker().render(content, view)
            if self._cache:
                self._cache.add_picture(key, picture)
        return picture

    def _worker(self, python: str | None = None, *, gpu: bool = False) -> Worker:
        """One for each environment that models are to find."""
        if (python, gpu) not in self.workers:
            self.workers[python, gpu] = Worker(python, gpu=gpu)
        return self.workers[python, gpu]


def _traced(answer: Traced | Refused, model: str) -> _Traced | Refused:
    """An answer of the tracing process, read."""
    if isinstance(answer, Refused):
        return answer
    graph = deserialize(answer.graph)
    return _Traced(
        graph=graph,
        content=answer.graph,
        sources=answer.sources,
        libraries=answer.libraries,
        names=answer.names,
        has_twin=answer.has_twin,
        problem=forward_problem(model, graph),
    )


def _with_problem(diagram: Diagram, error: ModelDiagramsError) -> Diagram:
    kind: Kind = _KINDS.get(type(error), "worker")
    problem = Problem(kind=kind, message=str(error), frames=error.frames if isinstance(error, WorkerError) else ())
    if diagram.problem:  # what the model raised comes first
        problem = msgspec.structs.replace(diagram.problem, message=f"{diagram.problem.message}\n{error}")
    return msgspec.structs.replace(diagram, problem=problem)


def _read_graph(path: Path, name: str) -> _Traced | Refused:
    """Read a graph file; messages call it by its name."""
    try:
        content = path.read_bytes()
        graph = deserialize(content)
        sources = (str(path),)
        return _Traced(graph=graph, content=content, sources=sources, problem=forward_problem(name, graph))
    except OSError as error:
        problem = f"expected a readable graph file: {error.strerror or error}"
    except GraphError as error:
        problem = str(error)
    return Refused(problem=Problem(kind="graph-file", message=f"{name}: {problem}"), sources=(str(path),))


def _is_any_newer(files: Iterable[str], moment: int) -> bool:
    """Whether a file was written after a moment, in nanoseconds of the system's clock, or is gone."""
    try:
        return any(Path(file).stat().st_mtime_ns >= moment for file in files)
    except OSError:
        return True


def diagram_id(options: Options, *, has_twin: bool = False) -> str:
    """A stable, file-name safe name for what the options show, as far as they were written for this diagram.

    It is the model's path; with a digest behind it where other options have a say in the content, and for what is not
    written as classes are (`pkg.Net`): some disks don't tell `pkg.net`, a factory, from it.

    Args:
        options: What the author wrote.
        has_twin: Whether there is another class beside it that only capitals tell apart (`pkg.NET`).
    """
    written = {name: value for name in _CONTENT_OPTIONS if (value := getattr(options, name)) is not None}
    path = options.model.replace(":", ".")
    name = re.sub(r"[^\w.-]+", "-", path).strip(".-")
    is_usual = path == path.lower() if _is_graph_file(options) else _CLASS_PATH.fullmatch(path)
    if len(written) == 1 and name == path and is_usual and not has_twin:
        return name
    digest = hashlib.blake2b(repr(written).encode(), digest_size=4).hexdigest()
    return f"{name}-{digest}"


def _snapshot_name(written: Options) -> str:
    """Diagrams that show the same graph otherwise share its snapshot."""
    return diagram_id(Options(**{name: getattr(written, name) for name in TRACE_OPTIONS}))


def _is_graph_file(options: Options) -> bool:
    return options.model.endswith(".json")


def forward_problem(model: str, graph: Graph) -> Problem | None:
    """What the model raised, if it did; and what to write where no inputs were found."""
    error = graph.status.error
    if graph.status.state == "hierarchy" and graph.status.notes:
        return Problem(kind="inputs", message=graph.status.notes[0])
    if error is None:
        return None
    frames = tuple(f"{frame.file}:{frame.line} in {frame.function}" for frame in error.frames)
    message = f"the forward pass of {model} raised {error.type}: {error.message}".removesuffix(": ")
    return Problem(kind="forward", message=message, frames=frames)
