"""The entry point for documentation tools: options in, a finished diagram or its problem out.

Long because all steps share the caches and processes of one session.

Nothing here imports torch, runs user code or starts V8: workers and the drawer do, for what the `Cache` does not have.
"""

import shutil
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Self

import msgspec

from modeldiagrams.common.environment import has_torch
from modeldiagrams.engine.annotations import annotated
from modeldiagrams.engine.cache import Cache, cached_picture, picture_file_key, picture_key
from modeldiagrams.engine.compare.check import Check, changes_since
from modeldiagrams.engine.compare.difference import difference_by
from modeldiagrams.engine.compare.history import History, committed_graph, history_of
from modeldiagrams.engine.compare.sides import graph_of, no_model, relative
from modeldiagrams.engine.compare.versions import side_of
from modeldiagrams.engine.diagram import Comparison, Diagram, Problem, with_problem
from modeldiagrams.engine.embedding import maker
from modeldiagrams.engine.ids import diagram_id
from modeldiagrams.engine.loaded import LoadedGraph, read_graph_file
from modeldiagrams.engine.problems import naming
from modeldiagrams.engine.recordings import recorded
from modeldiagrams.engine.snapshots import Snapshots
from modeldiagrams.engine.store import Store
from modeldiagrams.engine.tracing import Tracing, Workers
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Options, View, is_graph_file
from modeldiagrams.render.draw import Beside, Picture, Theme
from modeldiagrams.render.picture_file import FileForm, PictureFile
from modeldiagrams.worker import NO_TORCH, Refused
from modeldiagrams.worker.drawing import Drawer

__all__ = ["DiagramBuilder", "Session"]


class Session:
    """What the builds of one process share; a server makes many, other commands one."""

    def __init__(self) -> None:
        self.workers = Workers()
        self.drawer = Drawer()


class DiagramBuilder:
    """Builds diagrams. Owns processes and the cache; use it with ``with``, or `close` it. Several threads may build.

    Attributes:
        folder: Graph files are relative to it.
        tracing: Where graphs of models come from.
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
            session: What earlier builds of this process left.
        """
        self._thread = threading.local()
        self.folder = folder
        self._store = Store(cache_dir) if cache_dir else None
        self._cache = Cache(self._store) if self._store else None
        self._session = session or Session()
        self._snapshots = Snapshots(snapshots) if snapshots else None
        self.tracing = Tracing(self._store, self._session.workers, folder, paths)

    @property
    def output(self) -> str:
        """What the last model of this thread printed, if it was run at all."""
        return getattr(self._thread, "output", "")

    def build(
        self, options: Options, written: Options | None = None, accepted: Collection[str] = frozenset()
    ) -> Diagram:
        """Trace, or read, and draw one model.

        Args:
            options: What the author wrote, completed by the site's values.
            written: The options without the site's values. They alone make the diagram's id, so that it stays the same
                when the site's values change.
            accepted: Kinds of problems that the author has silenced.

        Returns:
            The diagram. Whatever a model does becomes its `problem` and is not raised.
        """
        self._thread.output = ""
        written = written or options
        name = _snapshot_name(written)
        snapshot = "" if is_graph_file(options.call.model) else name
        diagram = Diagram(id=diagram_id(written), options=options, snapshot=snapshot)
        try:
            if options.compare.before is not None:
                return self._compared(diagram, options.compare.before, name)
            loaded = self._loaded(options, name, accepted)
            if isinstance(loaded, Refused):
                problem = naming(options.call.model, loaded.problem)
                return msgspec.structs.replace(diagram, problem=problem, sources=loaded.sources)
            diagram = msgspec.structs.replace(
                diagram,
                id=diagram_id(written.called(loaded.name), has_case_variant=loaded.has_case_variant),
                graph=loaded.graph,
                sources=loaded.sources,
                libraries=loaded.libraries,
                names=loaded.names,
                own_names=loaded.own_names,
                problem=loaded.problem,
            )
            diagram = recorded(annotated(diagram, self.folder, maker(self.tracing, options)), self.folder, self._store)
            picture = self._draw(loaded.content, options, diagram.beside)
            diagram = msgspec.structs.replace(diagram, picture=picture)
        except ModelDiagramsError as error:
            return with_problem(diagram, error)
        unmatched = diagram.picture.unmatched if diagram.picture else None
        return with_problem(diagram, unmatched.error(loaded.graph)) if unmatched else diagram

    def prefetch(self, wanted: Sequence[Options]) -> None:
        """Run many models at the same time, so that `build` need not wait for each."""
        self.tracing.prefetch(options for options in wanted if self._can_trace(options))

    def draw_file(
        self, graph: Graph, view: View, form: FileForm, theme: Theme = "light", beside: Beside | None = None
    ) -> PictureFile:
        """Take a picture file from the cache, or draw it.

        Raises:
            RenderError: if it can't be drawn, or a library for the form is not installed.
            WorkerError: if the process that draws died or took too long.
        """
        content = serialize(graph)
        key = picture_file_key(content, view, form, theme, beside)
        draw = self._session.drawer.render_file
        return cached_picture(self._cache, key, PictureFile, lambda: draw(content, view, form, theme, beside))

    def page_data(self, made_from: Sequence[bytes], make: Callable[[], str]) -> str:
        """What pages have of a diagram, see `html.fragment.data_script`: from the cache, or made."""
        return self._cache.page_data(made_from, make) if self._cache else make()

    def draw_image(self, svg: str, size: tuple[float, float], form: FileForm) -> PictureFile:
        """Make another file of an author's SVG, whose size is in CSS pixels.

        Raises:
            RenderError: if it can't be made, or a library for the form is not installed.
            WorkerError: if the process that draws died or took too long.
        """
        return self._session.drawer.render_image(svg, *size, form)

    def close(self) -> None:
        """End all processes, and keep the cache small."""
        self._session.workers.close()
        self._session.drawer.close()
        if self._store:
            self._store.trim()

    def renew(self) -> None:
        """Like `close`, but the next processes get ready: for servers, whose models will be edited."""
        self._session.workers.renew()
        if self._store:
            self._store.trim()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def changes_since(self, version: str) -> Check:
        """Compare all snapshots with those of another version, see `changes_since` of `engine.compare.check`."""
        return changes_since(version, self._versioned(), self._session.drawer.difference)

    def history(self, model: str, since: str | None) -> History:
        """A model in all releases, see `history_of`.

        Args:
            model: Whose snapshot is read, or a graph file.
            since: A revision; releases that don't contain it are left out.

        Raises:
            ModelDiagramsError: if there is nothing to read.
        """
        file = self.folder / model if is_graph_file(model) else committed_graph(model, self._versioned())
        return history_of(file, since, self._session.drawer.difference)

    def note_left_out(self, written: Options) -> None:
        """Report that no page shows this model after all, as in `build`, so that its snapshot is not missing."""
        if self._snapshots:
            self._snapshots.note_left_out(self._snapshots.path(_snapshot_name(written)).absolute())

    def _versioned(self) -> Path:
        """The folder of snapshots."""
        if self._snapshots is None:
            raise ModelDiagramsError("expected a folder of snapshots, as only they have other versions")
        return self._snapshots.folder

    def _loaded(self, options: Options, name: str, accepted: Collection[str] = frozenset()) -> LoadedGraph | Refused:
        """The model as it is now."""
        return self._read(options) if is_graph_file(options.call.model) else self._trace(options, name, accepted)

    def _compared(self, diagram: Diagram, earlier: str, name: str) -> Diagram:
        """The diagram of what changed."""
        options = diagram.options
        for option, value in {"recording": options.figure.recording, **msgspec.structs.asdict(options.author)}.items():
            if value:
                reason = "a diagram of what changed shows models as they are"
                raise OptionError(option, f"belongs to `model-graph`: {reason}")
        after = self._version("after", options.compare.after, options, name)
        before = self._version("before", earlier, options, name)
        sources, problem = (*before.sources, *after.sources), before.problem or after.problem
        diagram = msgspec.structs.replace(diagram, sources=sources, problem=problem)
        if isinstance(before, Refused) or isinstance(after, Refused):
            return diagram
        try:
            difference = difference_by(self._session.drawer.difference, before.graph, after.graph)
            found = Comparison(
                before=before.graph, after=after.graph, difference=difference, details=options.compare.details
            )
            picture = self._draw(after.content, options, found.earlier) if found.has_picture else None
        except ModelDiagramsError as error:
            return with_problem(diagram, error)
        return msgspec.structs.replace(diagram, comparison=found, picture=picture)

    def _version(self, option: str, version: str | None, options: Options, name: str) -> LoadedGraph | Refused:
        """The graph of a version that an author names; None for the model as it is."""
        if version is None:
            return self._loaded(options, name)
        try:
            snapshot = self._snapshots.path(name) if self._snapshots else None
            if not (side := side_of(version, options.call.model, snapshot, self.folder)):
                other = options.called(version)
                return self._loaded(other, _snapshot_name(other))  # the model that is compared has its own
            graph = graph_of(side, no_model, self.folder)
        except ModelDiagramsError as error:
            raise OptionError(option, relative(error, self.folder)) from error
        file = self.folder / side
        if self._snapshots and file.is_file():
            self._snapshots.note_mention(file.absolute(), traced=False)
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
        if self._snapshots:
            self._snapshots.note_mention(path, traced=False)
        # messages have the name as the author wrote it, so that none shows an absolute path
        return read_graph_file(path, model)

    def _trace(self, options: Options, name: str, accepted: Collection[str]) -> LoadedGraph | Refused:
        """Take a graph from the cache, or trace it; without torch, take the snapshot of this name."""
        snapshot = self._snapshots.path(name).absolute() if self._snapshots else None
        if self._snapshots and snapshot:
            self._snapshots.note_mention(snapshot, traced=True)
        can_trace = self._can_trace(options)
        if snapshot and snapshot.is_file() and not can_trace:
            return read_graph_file(snapshot, f"{snapshot.parent.name}/{snapshot.name}")
        if options.limits.python is None and not can_trace:
            return Refused(problem=Problem(kind="worker", message=f"{options.call.model} can't be traced. {NO_TORCH}"))
        loaded, self._thread.output = self.tracing.graph(options)
        if isinstance(loaded, Refused) or self._snapshots is None or snapshot is None:
            return loaded
        if loaded.may_differ:
            return loaded
        if not loaded.graph.nodes and loaded.problem and loaded.problem.kind in accepted:
            return loaded  # of nothing there is no snapshot, unless an author wants to show it
        drift = self._snapshots.compare(name, loaded.graph)
        problem = loaded.problem or (Problem(kind="snapshot", message=drift) if drift else None)
        sources = (*loaded.sources, str(snapshot)) if snapshot.is_file() else loaded.sources
        return msgspec.structs.replace(loaded, problem=problem, sources=sources)

    def _can_trace(self, options: Options) -> bool:
        python = self.tracing.interpreter(options)
        return shutil.which(python) is not None if python else has_torch()

    def _draw(self, content: bytes, options: Options, beside: Beside | None = None) -> Picture:
        """Take a picture from the cache, or draw it."""
        key = picture_key(content, options.view, beside)
        draw = self._session.drawer.render
        return cached_picture(self._cache, key, Picture, lambda: draw(content, options.view, beside))


def _snapshot_name(written: Options) -> str:
    """Diagrams that show the same graph otherwise share its snapshot."""
    return diagram_id(Options(call=written.call))
