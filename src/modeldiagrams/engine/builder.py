"""The entry point for documentation tools: turns options into a finished diagram or a problem.

Nothing here imports torch, runs user code or starts V8; workers and the drawer do so if the `Cache` has no entry.
"""

import shutil
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import msgspec

from modeldiagrams.common.environment import has_torch
from modeldiagrams.common.files import digest
from modeldiagrams.engine.annotations import annotate_diagram
from modeldiagrams.engine.cache import make_file_key, make_view_key
from modeldiagrams.engine.compare.difference import describe_changes, difference_by
from modeldiagrams.engine.compare.documentation import Check, compare_with
from modeldiagrams.engine.compare.history import History, find_history, read_committed_graph
from modeldiagrams.engine.compare.sides import graph_of, refuse_model, relative
from modeldiagrams.engine.compare.versions import find_side
from modeldiagrams.engine.diagram import Comparison, Diagram, Problem, add_problem
from modeldiagrams.engine.diagram_ids import make_diagram_id, name_snapshot
from modeldiagrams.engine.executors import make_workers
from modeldiagrams.engine.loaded_graph import LoadedGraph, read_graph_file
from modeldiagrams.engine.model_graphs import Tracing
from modeldiagrams.engine.problems import name_file
from modeldiagrams.engine.recordings import add_recordings
from modeldiagrams.engine.snapshots import Snapshots
from modeldiagrams.engine.store import Store, take_or_make
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Options, View, is_graph_file
from modeldiagrams.options.patterns import find_unmatched
from modeldiagrams.render.draw import Beside, Picture, Theme
from modeldiagrams.render.picture_file import FileForm, PictureFile
from modeldiagrams.worker import NO_TORCH, Refused
from modeldiagrams.worker.drawing import Drawer

__all__ = ["DiagramBuilder", "Session"]

_NOT_COMMITTED = "The option `committed` is set, and nothing is: run `modeldiagrams snapshot` and commit the result"


class Session:
    """Processes shared by the builds of one process; a server makes many builds, other commands one."""

    def __init__(self) -> None:
        self.workers = make_workers()
        self.drawer = Drawer()


class DiagramBuilder:
    """Builds diagrams, in several threads if needed. Use it in a ``with`` statement, or `close` it.

    Attributes:
        folder: The folder that graph files are relative to.
        store: What is kept between builds, if anything.
        session: Its processes.
        tracing: Provides the graphs of models.
        snapshots: The committed graphs.
    """

    def __init__(  # noqa: PLR0913  (where things are)
        self,
        cache_dir: Path | None,
        *,
        folder: Path,
        paths: Sequence[Path] = (),
        snapshots: Path | None = None,
        calls: Path | None = None,
        session: Session | None = None,
    ) -> None:
        """Prepare to build; nothing is started yet.

        Args:
            cache_dir: The folder for graphs and pictures between builds; None keeps nothing.
            folder: The folder of the documentation; graph files are relative to it.
            paths: Folders to import models from, before those in ``sys.path``. A relative interpreter (option
                `python`) is relative to the first, or else to `folder`.
            snapshots: The folder of graphs to use if torch is not installed.
            calls: The file of recorded calls, whether it exists or not.
            session: The processes of earlier builds in this process.
        """
        self._thread = threading.local()
        self.folder = folder
        self.store = Store(cache_dir) if cache_dir else None
        self.session = session or Session()
        self.snapshots = Snapshots(snapshots, self._describe_changes) if snapshots else None
        self.tracing = Tracing(self.store, self.session.workers, folder, paths, calls)
        self.tracing.shows_progress = bool(self.snapshots and self.snapshots.writes)

    @property
    def output(self) -> str:
        """The output of the last model of this thread, if it was run."""
        return getattr(self._thread, "output", "")

    def build(self, options: Options, accepted: Collection[str] = frozenset()) -> Diagram:
        """Trace or read a model, and draw it.

        Args:
            options: The author's options, completed by the site's values.
            accepted: Kinds of problems that the author silenced.

        Returns:
            The diagram. Errors of a model become its `problem` and are not raised.
        """
        self._thread.output = ""
        written = options.written
        name = name_snapshot(options)
        snapshot = "" if is_graph_file(options.call.model) else name
        diagram = Diagram(id=make_diagram_id(written), options=options, snapshot=snapshot)
        try:
            if options.compare.before is not None:
                return self._compare(diagram, options.compare.before, name)
            loaded = self.load(options, accepted)
            if isinstance(loaded, Refused):
                problem = name_file(options.call.model, loaded.problem)
                return msgspec.structs.replace(diagram, problem=problem, sources=loaded.sources)
            diagram = msgspec.structs.replace(
                diagram,
                id=make_diagram_id(written.called(loaded.name), has_case_variant=loaded.has_case_variant),
                graph=loaded.graph,
                sources=loaded.sources,
                libraries=loaded.libraries,
                names=loaded.names,
                own_names=loaded.own_names,
                problem=loaded.problem,
            )
            diagram = add_recordings(annotate_diagram(diagram, self.folder), self.folder, self.store)
            picture = self._draw(loaded.content, options, diagram.beside)
            diagram = msgspec.structs.replace(diagram, picture=picture)
        except ModelDiagramsError as error:
            return add_problem(diagram, error)
        groups = diagram.overlay.group_names if diagram.overlay else ()
        wrong = find_unmatched(loaded.graph, options.view, groups)
        return add_problem(diagram, wrong.error(loaded.graph)) if wrong else diagram

    def load(self, options: Options, accepted: Collection[str] = frozenset()) -> LoadedGraph | Refused:
        """Read a graph file, or take a model's graph from cache or snapshot, or trace it; see `build`."""
        return self._read(options) if is_graph_file(options.call.model) else self._trace(options, accepted)

    def prefetch(self, wanted: Sequence[Options]) -> None:
        """Run many models at the same time, so that `build` doesn't wait for each."""
        self.tracing.prefetch(options for options in wanted if self.can_trace(options))

    def draw_file(
        self, graph: Graph, view: View, form: FileForm, theme: Theme = "light", beside: Beside | None = None
    ) -> PictureFile:
        """Take a picture file from the cache, or draw it.

        Raises:
            RenderError: if it can't be drawn, or a library for the format is not installed.
            WorkerError: if the drawing process died or took too long.
        """
        content = serialize(graph)
        name = f"{make_file_key(content, view, form, theme, beside)}.picture"
        draw = partial(self.session.drawer.render_file, content, view, form, theme, beside)
        return take_or_make(self.store, name, PictureFile, draw)

    def page_data(self, made_from: Sequence[bytes], make: Callable[[], str]) -> str:
        """Return the data of a diagram for pages from the cache, or make it; see `html.fragment.build_data_script`."""
        return take_or_make(self.store, f"{digest(*made_from)}.page", str, make)

    def draw_image(self, svg: str, size: tuple[float, float], form: FileForm) -> PictureFile:
        """Convert an author's SVG, whose size is in CSS pixels, to another format.

        Raises:
            RenderError: if it can't be converted, or a library for the format is not installed.
            WorkerError: if the drawing process died or took too long.
        """
        return self.session.drawer.render_image(svg, *size, form)

    def close(self) -> None:
        """End all processes, and trim the cache."""
        self.session.workers.close()
        self.session.drawer.close()
        if self.store:
            self.store.trim()

    def renew(self) -> None:
        """Like `close`, but start the next processes, for servers whose models will be edited."""
        self.session.workers.renew()
        if self.store:
            self.store.trim()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def changes_since(self, version: str) -> Check:
        """Compare all snapshots with those of another version, see `compare_with` of `engine.compare.documentation`."""
        return compare_with(version, self._snapshot_folder(), self.session.drawer.difference)

    def history(self, model: str, since: str | None) -> History:
        """Describe a model in all releases, see `find_history`.

        Args:
            model: The model with a snapshot, or a graph file.
            since: A revision; releases that don't contain it are left out.

        Raises:
            ModelDiagramsError: if there is no graph to read.
        """
        file = self.folder / model if is_graph_file(model) else read_committed_graph(model, self._snapshot_folder())
        return find_history(file, since, self.session.drawer.difference)

    def note_left_out(self, options: Options) -> None:
        """Report that no page shows this model after all, so that its snapshot is not missing."""
        if self.snapshots:
            self.snapshots.note_left_out(self.snapshots.path(name_snapshot(options)).absolute())

    def _describe_changes(self, before: Graph, after: Graph) -> str:
        return describe_changes(self.session.drawer.difference, before, after)

    def _snapshot_folder(self) -> Path:
        """Return the folder of snapshots."""
        if self.snapshots is None:
            raise ModelDiagramsError("expected a folder of snapshots, as only they have other versions")
        return self.snapshots.folder

    def _compare(self, diagram: Diagram, earlier: str, name: str) -> Diagram:
        """Build the diagram of what changed."""
        options = diagram.options
        for option, value in {"recording": options.figure.recording, **msgspec.structs.asdict(options.author)}.items():
            if value:
                reason = "a diagram of what changed has no annotations and recordings"
                raise OptionError(option, f"belongs to `model-graph`: {reason}")
        after = self._load_version("after", options.compare.after, options, name)
        before = self._load_version("before", earlier, options, name)
        sources, problem = (*before.sources, *after.sources), before.problem or after.problem
        diagram = msgspec.structs.replace(diagram, sources=sources, problem=problem)
        if isinstance(before, Refused) or isinstance(after, Refused):
            return diagram
        try:
            difference = difference_by(self.session.drawer.difference, before.graph, after.graph)
            found = Comparison(
                before=before.graph, after=after.graph, difference=difference, details=options.compare.details
            )
            picture = self._draw(after.content, options, found.earlier) if found.has_picture else None
        except ModelDiagramsError as error:
            return add_problem(diagram, error)
        return msgspec.structs.replace(diagram, comparison=found, picture=picture)

    def _load_version(self, option: str, version: str | None, options: Options, name: str) -> LoadedGraph | Refused:
        """Load the graph of a version that an author names; None means the current model."""
        if version is None:
            return self.load(options)
        try:
            snapshot = self.snapshots.path(name) if self.snapshots else None
            if not (side := find_side(version, options.call.model, snapshot, self.folder)):
                other = options.called(version)
                return self.load(other)  # another model with its own snapshot
            graph = graph_of(side, refuse_model, self.folder)
        except ModelDiagramsError as error:
            raise OptionError(option, relative(error, self.folder)) from error
        file = self.folder / side
        if self.snapshots and file.is_file():
            self.snapshots.note_mention(file.absolute(), traced=False)
        return LoadedGraph(
            graph=graph, content=serialize(graph), sources=(str(file.absolute()),) if file.is_file() else ()
        )

    def _read(self, options: Options) -> LoadedGraph | Refused:
        """Read a graph file."""
        model = options.call.model
        for name, value in msgspec.structs.asdict(options.call).items():
            if name != "model" and value is not None:
                raise OptionError(name, f"{model} is a graph file, so there is nothing to call; remove this option")
        path = (self.folder / model).absolute()
        if self.snapshots:
            self.snapshots.note_mention(path, traced=False)
        # messages use the author's name, so that none contains an absolute path
        return read_graph_file(path, model)

    def _trace(self, options: Options, accepted: Collection[str]) -> LoadedGraph | Refused:
        """Take a graph from the cache, or trace it; without torch, read its snapshot."""
        name = name_snapshot(options)
        snapshot = self.snapshots.path(name).absolute() if self.snapshots else None
        if self.snapshots and snapshot:
            self.snapshots.note_mention(snapshot, traced=True)
        can_trace = self.can_trace(options)
        if snapshot and snapshot.is_file() and not can_trace:
            return read_graph_file(snapshot, f"{snapshot.parent.name}/{snapshot.name}")
        if reason := self.explain_untraced(options):
            return Refused(problem=Problem(kind="worker", message=f"{options.call.model} can't be traced. {reason}"))
        loaded, self._thread.output = self.tracing.graph(options)
        loaded = msgspec.structs.replace(loaded, sources=(*loaded.sources, *self.tracing.calls_for(options)))
        if isinstance(loaded, Refused) or self.snapshots is None or snapshot is None:
            return loaded
        if loaded.may_differ:
            return loaded
        if not loaded.graph.nodes and loaded.problem and loaded.problem.kind in accepted:
            return loaded  # an empty graph has no snapshot, unless an author wants to show it
        drift = self.snapshots.compare(name, loaded.graph)
        problem = loaded.problem or (Problem(kind="snapshot", message=drift) if drift else None)
        sources = (*loaded.sources, str(snapshot)) if snapshot.is_file() else loaded.sources
        return msgspec.structs.replace(loaded, problem=problem, sources=sources)

    def can_trace(self, options: Options) -> bool:
        """Whether this build may run the model, and there is an environment that can."""
        if options.limits.committed and self.snapshots and not self.snapshots.writes:
            return False
        python = self.tracing.interpreter(options)
        return shutil.which(python) is not None if python else has_torch()

    def explain_untraced(self, options: Options) -> str:
        """Say what to do without a snapshot; "" if an attempt to run the model can succeed, or says more."""
        if self.can_trace(options):
            return ""
        return _NOT_COMMITTED if options.limits.committed else "" if options.limits.python else NO_TORCH

    def _draw(self, content: bytes, options: Options, beside: Beside | None = None) -> Picture:
        """Take a picture from the cache, or draw it."""
        name = f"{make_view_key(content, options.view, beside)}.picture"
        draw = partial(self.session.drawer.render, content, options.view, beside)
        return take_or_make(self.store, name, Picture, draw)
