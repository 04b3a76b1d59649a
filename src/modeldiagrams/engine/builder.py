"""The entry point for documentation tools: options in, a finished diagram or its problem out.

Nothing here imports torch, runs user code or starts V8: a `Worker` does, and only for what the `Cache` does not have.
"""

import shutil
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Self

import msgspec

from modeldiagrams.common.environment import has_torch
from modeldiagrams.common.files import digest
from modeldiagrams.engine.cache import Cache, graph_key, picture_file_key, picture_key
from modeldiagrams.engine.diagram import Diagram, Problem, diagram_id, forward_problem
from modeldiagrams.engine.failures import RECURRING, FailureMemory, is_silenced, recurs
from modeldiagrams.engine.loaded import LoadedGraph, loaded_from, read_graph_file
from modeldiagrams.engine.snapshots import Snapshots
from modeldiagrams.engine.sources import is_any_newer
from modeldiagrams.engine.store import Store
from modeldiagrams.errors import ModelDiagramsError, OptionError, RenderError, WorkerError
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Options, View, is_graph_file, package_of
from modeldiagrams.render.draw import Picture, Theme
from modeldiagrams.render.picture_file import FileForm, PictureFile
from modeldiagrams.worker import NO_TORCH, Kind, Refused, Traced, Worker

__all__ = ["DiagramBuilder", "Session"]

_KINDS: dict[type[ModelDiagramsError], Kind] = {OptionError: "option", RenderError: "render"}


class Session:
    """What the builds of one process share; a server makes many, other commands one.

    Attributes:
        workers: Interpreter, and whether models see a GPU → the tracing process.
        failures: Of all builds so far, silenced or not.
    """

    def __init__(self) -> None:
        self.workers: dict[tuple[str | None, bool], Worker] = {}
        self.failures = FailureMemory()


class DiagramBuilder:
    """Builds diagrams. Owns the tracing process and the cache; use it with ``with``, or `close` it.

    Attributes:
        folder: Graph files are relative to it.
        output: What the last model printed, if it was run at all.
        on_trace: Called with the name of every model that is about to be run, which may take a while.
    """

    def __init__(
        self,
        cache_dir: Path | None,
        *,
        folder: Path,
        paths: Sequence[Path] = (),
        snapshots: Path | None = None,
        session: Session | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            cache_dir: Where graphs and pictures are kept between builds; None keeps nothing.
            folder: Of the documentation; graph files are relative to it.
            paths: Folders to import models from, before those of this process's ``sys.path``. A relative
                interpreter (option `python`) is looked up from the first, or else from `folder`.
            snapshots: Folder of graphs to take where torch is not installed.
            session: What earlier builds of this process left; without one, every failure that is not silenced is
                tried again.
        """
        self.output = ""
        self.on_trace: Callable[[str], object] | None = None
        self.folder = folder
        self._store = Store(cache_dir) if cache_dir else None
        self._cache = Cache(self._store) if self._store else None
        self._silenced_failures = FailureMemory(self._store)
        self._session_failures = session.failures if session else None
        self._workers = session.workers if session else {}
        self._paths = tuple(paths)
        self._snapshots = Snapshots(snapshots) if snapshots else None

    def build(
        self, options: Options, written: Options | None = None, accepted: Collection[str] = frozenset()
    ) -> Diagram:
        """Trace, or read, and draw one model.

        Args:
            options: What the author wrote, completed by the site's values.
            written: The options without the site's values. They alone make the diagram's id, so that it stays the same
                when the site's values change.
            accepted: Kinds of problems that the author has silenced. Such failures are remembered until a source
                changes or something new can be imported.

        Returns:
            The diagram. Whatever a model does becomes its `problem` and is not raised.
        """
        self.output = ""
        written = written or options
        diagram = Diagram(id=diagram_id(written), options=options)
        try:
            if is_graph_file(options.call.model):
                loaded = self._read(options)
            else:
                loaded = self._trace(options, _snapshot_name(written), accepted)
            if isinstance(loaded, Refused):
                return msgspec.structs.replace(diagram, problem=loaded.problem, sources=loaded.sources)
            diagram = msgspec.structs.replace(
                diagram,
                id=diagram_id(written, has_case_variant=loaded.has_case_variant),
                graph=loaded.graph,
                sources=loaded.sources,
                libraries=loaded.libraries,
                names=loaded.names,
                problem=loaded.problem,
            )
            diagram = msgspec.structs.replace(diagram, picture=self._draw(loaded.content, options))
        except ModelDiagramsError as error:
            return _with_problem(diagram, error)
        unmatched = diagram.picture.unmatched if diagram.picture else None
        return _with_problem(diagram, unmatched.error(loaded.graph)) if unmatched else diagram

    def draw_file(self, graph: Graph, view: View, form: FileForm, theme: Theme = "light") -> PictureFile:
        """Take a picture file from the cache, or draw it.

        Raises:
            RenderError: if it can't be drawn, or a library for the form is not installed.
            WorkerError: if the process that draws died or took too long.
        """
        content = serialize(graph)
        key = picture_file_key(content, view, form, theme)
        file = self._cache.picture(key, PictureFile) if self._cache else None
        if file is None:
            file = self._worker().render_file(content, view, form, theme)
            if self._cache:
                self._cache.add_picture(key, file)
        return file

    def close(self) -> None:
        """End the tracing process, and keep the cache small."""
        for worker in self._workers.values():
            worker.close()
        if self._store:
            self._store.trim()

    def renew(self) -> None:
        """Like `close`, but the next tracing process gets ready: for servers, whose models will be edited."""
        for worker in self._workers.values():
            worker.renew()
        if self._store:
            self._store.trim()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def interpreter(self, options: Options) -> str | None:
        """The interpreter that runs a model; None for this process's."""
        python = options.limits.python
        if python is None or Path(python).name == python:
            return python and (shutil.which(python) or python)
        # not resolved: an environment's interpreter is a link out of it
        return str((self._paths[0] if self._paths else self.folder).absolute() / Path(python).expanduser())

    def remembered_failure(self, options: Options) -> str | None:
        """Key of the silenced failure that is remembered of a model; None if it would be run again."""
        key = self._failure_key(self._with_interpreter(options))
        return key if self.would_fail(key) else None

    def would_fail(self, key: str) -> bool:
        """Whether a silenced failure would come again."""
        return self._silenced_failures.recall(key) is not None

    def note_left_out(self, written: Options) -> None:
        """Report that no page shows this model after all, as in `build`, so that its snapshot is not missing."""
        if self._snapshots:
            self._snapshots.note_left_out(self._snapshots.path(_snapshot_name(written)).absolute())

    def _with_interpreter(self, options: Options) -> Options:
        limits = msgspec.structs.replace(options.limits, python=self.interpreter(options))
        return msgspec.structs.replace(options, limits=limits)

    def _failure_key(self, options: Options) -> str:
        return digest(graph_key(options, self.folder).encode(), msgspec.msgpack.encode(options.limits))

    def _read(self, options: Options) -> LoadedGraph | Refused:
        """Read a graph file."""
        model = options.call.model
        for name, value in msgspec.structs.asdict(options.call).items():
            if name != "model" and value is not None:
                raise OptionError(name, f"{model} is a graph file, so there is nothing to call; remove this option")
        path = (self.folder / model).absolute()
        if self._snapshots:
            self._snapshots.note_mention(path, traced=False)
        # messages have the name as the author wrote it, so that none shows an absolute path
        return read_graph_file(path, model)

    def _trace(self, options: Options, name: str, accepted: Collection[str]) -> LoadedGraph | Refused:
        """Take a graph from the cache, or trace it; without torch, take the snapshot of this name."""
        snapshot = self._snapshots.path(name).absolute() if self._snapshots else None
        if self._snapshots and snapshot:
            self._snapshots.note_mention(snapshot, traced=True)
        options = self._with_interpreter(options)
        python = options.limits.python
        if snapshot and snapshot.is_file() and not (shutil.which(python) if python else has_torch()):
            return read_graph_file(snapshot, f"{snapshot.parent.name}/{snapshot.name}")
        if python is None and not has_torch():
            return Refused(problem=Problem(kind="worker", message=f"{options.call.model} can't be traced. {NO_TORCH}"))
        loaded = self._known(options, accepted) or self._newly_traced(options, accepted)
        if isinstance(loaded, Refused) or self._snapshots is None or snapshot is None:
            return loaded
        if not loaded.graph.nodes and loaded.problem and loaded.problem.kind in accepted:
            return loaded  # of nothing there is no snapshot, unless an author wants to show it
        drift = self._snapshots.compare(name, loaded.graph)
        problem = loaded.problem or (Problem(kind="snapshot", message=drift) if drift else None)
        sources = (*loaded.sources, str(snapshot)) if snapshot.is_file() else loaded.sources
        return msgspec.structs.replace(loaded, problem=problem, sources=sources)

    def _known(self, options: Options, accepted: Collection[str]) -> LoadedGraph | Refused | None:
        """The graph in the cache, or the failure that is remembered."""
        if self._cache and (cached := self._cache.graph(graph_key(options, self.folder))):
            return msgspec.structs.replace(cached, problem=forward_problem(options.call.model, cached.graph))
        key, model = self._failure_key(options), options.call.model
        if self._session_failures and (answer := self._session_failures.recall(key)):
            return loaded_from(answer, model)
        if not RECURRING.isdisjoint(accepted) and (answer := self._silenced_failures.recall(key)):
            loaded = loaded_from(answer, model)
            return loaded if is_silenced(loaded.problem, accepted) else None
        return None

    def _newly_traced(self, options: Options, accepted: Collection[str]) -> LoadedGraph | Refused:
        model, python = options.call.model, options.limits.python
        worker = self._worker(python, gpu=options.limits.uses_gpu)
        if self.on_trace:
            self.on_trace(model)
        start = time.time_ns()
        try:
            answer = worker.trace(options, self._paths)
        except WorkerError as error:
            problem = Problem(kind="worker", message=str(error), frames=error.frames)
            answer = Refused(problem=problem, sources=self._package_files(model))
        finally:
            self.output = worker.output
        loaded = loaded_from(answer, model)
        if is_any_newer(answer.sources, start):
            return loaded  # a source that was edited meanwhile is not what was traced
        if isinstance(answer, Traced) and isinstance(loaded, LoadedGraph) and loaded.graph.status.state != "partial":
            if self._cache:
                self._cache.add_graph(graph_key(options, self.folder), answer, python)
        elif loaded.problem:
            key = self._failure_key(options)
            if self._session_failures and recurs(loaded.problem):
                self._session_failures.note(key, answer, self._paths, python)
            # what made a pass fail may lie outside of the sources, so later processes try most again
            if is_silenced(loaded.problem, accepted):
                self._silenced_failures.note(key, answer, self._paths, python)
        return loaded

    def _package_files(self, model: str) -> tuple[str, ...]:
        """All files of a model's package: which of them a stopped model had loaded is unknown."""
        package = package_of(model)
        folders = [path / package for path in self._paths]
        files = [file for folder in folders for file in (folder.with_suffix(".py"), *folder.rglob("*.py"))]
        return tuple(sorted(str(file) for file in files if file.is_file()))

    def _draw(self, content: bytes, options: Options) -> Picture:
        """Take a picture from the cache, or draw it."""
        key = picture_key(content, options.view)
        picture = self._cache.picture(key, Picture) if self._cache else None
        if picture is None:
            picture = self._worker().render(content, options.view)
            if self._cache:
                self._cache.add_picture(key, picture)
        return picture

    def _worker(self, python: str | None = None, *, gpu: bool = False) -> Worker:
        """One for each environment that models run in."""
        if (python, gpu) not in self._workers:
            self._workers[python, gpu] = Worker(python, gpu=gpu)
        return self._workers[python, gpu]


def _with_problem(diagram: Diagram, error: ModelDiagramsError) -> Diagram:
    kind: Kind = _KINDS.get(type(error), "worker")
    problem = Problem(kind=kind, message=str(error), frames=error.frames if isinstance(error, WorkerError) else ())
    if diagram.problem:  # what the model raised comes first
        problem = msgspec.structs.replace(diagram.problem, message=f"{diagram.problem.message}\n{error}")
    return msgspec.structs.replace(diagram, problem=problem)


def _snapshot_name(written: Options) -> str:
    """Diagrams that show the same graph otherwise share its snapshot."""
    return diagram_id(Options(call=written.call))
