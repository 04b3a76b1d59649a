"""Takes graphs of models from the cache or traces them in a worker, and doesn't repeat failures in vain."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from modeldiagrams.common.environment import made_with
from modeldiagrams.common.files import digest
from modeldiagrams.common.user_files import list_src
from modeldiagrams.engine.cache import Cache, make_graph_key
from modeldiagrams.engine.failures import RECURRING, FailureMemory
from modeldiagrams.engine.loaded_graph import LoadedGraph, load_graph, read_graph_file
from modeldiagrams.engine.many_graphs import run_each
from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.engine.progress import Progress
from modeldiagrams.engine.sources import is_any_newer
from modeldiagrams.options.options import get_package
from modeldiagrams.record.calls import is_open, recorded_graph, with_recorded
from modeldiagrams.worker import ListedModels, Problem, Refused, Traced, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from modeldiagrams.engine.cache import GraphEntry
    from modeldiagrams.engine.store import Store
    from modeldiagrams.options.options import Options
    from modeldiagrams.worker.remote import RemoteWorker
    from modeldiagrams.worker.worker import BaseWorker

__all__ = ["Tracing", "Workers"]

A = TypeVar("A", bound="Traced | Refused")


class Workers:
    """Keeps a worker for each environment of models, started when needed.

    Attributes:
        ended: Models that ended their process; they run again only in the next build.
    """

    def __init__(self, jobs: int | None = None, remote: RemoteWorker | None = None) -> None:
        """Prepare; nothing is started yet.

        Args:
            jobs: How many models run at a time; by default one per core.
            remote: Runs all models elsewhere.
        """
        self.ended = FailureMemory()
        self._jobs = jobs
        self._remote = remote
        self._workers: dict[tuple[str | None, bool], Worker] = {}

    @property
    def jobs(self) -> int:
        """How many models run at a time."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return self._jobs or cores or 1

    @property
    def doing(self) -> str:
        """What models do that have begun and not ended; an executor may let some of them wait."""
        return "with the executor" if self._remote else "running"

    def get(self, python: str | None, *, gpu: bool) -> BaseWorker:
        """Return the worker of an interpreter, with or without a GPU."""
        return self._remote or self._workers.setdefault((python, gpu), Worker(python, gpu=gpu))

    def close(self) -> None:
        """End all processes."""
        for worker in self._all():
            worker.close()

    def renew(self) -> None:
        """Prepare for edited sources."""
        for worker in self._all():
            worker.renew()

    def _all(self) -> list[BaseWorker]:
        return [*self._workers.values(), *([self._remote] if self._remote else [])]


class Tracing:
    """Traces models for one project.

    Attributes:
        on_trace: Called with the name of every model before it runs.
        shows_progress: Whether `prefetch` shows how far it is on stderr, instead of calling `on_trace`.
    """

    def __init__(
        self, store: Store | None, workers: Workers, folder: Path, paths: Sequence[Path], calls: Path | None = None
    ) -> None:
        """Prepare to trace; nothing is started yet.

        Args:
            store: Keeps graphs and failures between builds.
            workers: Run the models.
            folder: The folder of the documentation.
            paths: Folders to import models from, before those in ``sys.path``.
            calls: The file of recorded calls, whether it exists or not.
        """
        self._calls = calls
        self.on_trace: Callable[[str], object] | None = None
        self.shows_progress = False
        self._cache = Cache(store) if store else None
        self._failures = FailureMemory(store)
        self._workers = workers
        self._folder = folder
        self._paths = tuple(paths)
        self._fresh: dict[str, tuple[LoadedGraph | Refused | None, str]] = {}
        """What `prefetch` has found, without the graphs that are in the cache."""

    def graph(self, options: Options) -> tuple[LoadedGraph | Refused, str]:
        """Take a graph from the cache, or trace it.

        Args:
            options: The model and its limits.

        Returns:
            The graph or a refusal, and the model's output if it was run.
        """
        options = self._completed(options)
        key, failure_key = self._keys(options)
        if self._calls and (file := recorded_graph(options.call, self._calls)):
            return read_graph_file(file, f"{file.parent.name}/{file.name}"), ""
        fresh, output = self._fresh.pop(failure_key, (None, ""))
        if known := fresh or self._known(options.call.model, key, failure_key):
            return known, output
        self._announce(options)
        return self._newly_traced(options)

    def cached(self, options: Options) -> GraphEntry | None:
        """Return a traced graph from the cache without decoding it, which takes longest."""
        options = self._completed(options)
        if self._cache is None or (self._calls and recorded_graph(options.call, self._calls)):
            return None
        return self._cache.entry(self._keys(options)[0])

    def each(self, wanted: Iterable[Options]) -> Iterator[tuple[Options, LoadedGraph | Refused]]:
        """Take many graphs from the cache, or trace them, several at a time, and yield them as they come.

        Memory doesn't grow with their number. If the consumer ends early, the next call only traces what is missing.
        """
        workers = self._workers
        for options, (found, _) in run_each(wanted, self.graph, workers.jobs, on_error=workers.close):
            yield options, found

    def prefetch(self, wanted: Iterable[Options]) -> None:
        """Trace models that are not cached, several at a time, so that `graph` finds them."""
        uncached: dict[str, Options] = {}
        for options in map(self._completed, wanted):
            if self._calls and recorded_graph(options.call, self._calls):
                continue
            key, failure_key = self._keys(options)
            if failure_key not in uncached and not (self._cache and self._cache.has_graph(key)):
                uncached[failure_key] = options
        failing = self.failing(uncached)
        unknown = {key: options for key, options in uncached.items() if key not in failing}
        workers = self._workers
        with Progress(len(unknown), workers.doing) if self.shows_progress else contextlib.nullcontext() as progress:

            def start(wanted: tuple[str, Options]) -> None:
                if progress:
                    progress.start(wanted[1].call.model)
                else:
                    self._announce(wanted[1])

            traced = run_each(unknown.items(), self._prefetched, workers.jobs, on_start=start, on_error=workers.close)
            for (_, options), has_failed in traced:
                if progress:
                    progress.end(options.call.model, has_failed=has_failed)

    def _prefetched(self, wanted: tuple[str, Options]) -> bool:
        """Trace a model for `graph`; return whether it failed."""
        failure_key, options = wanted
        loaded, output = self._newly_traced(options)
        is_cached = self._cache is not None and self._cache.has_graph(self._keys(options)[0])
        self._fresh[failure_key] = (None if is_cached else loaded), output
        return loaded.problem is not None

    def list_models(self, of: tuple[str, ...], exclude: tuple[str, ...], options: Options) -> ListedModels | Refused:
        """List the names of models, again only if sources or installed packages have changed; see `find_models`."""
        limits = msgspec.structs.replace(options.limits, python=self.interpreter(options))
        made_from = [str(self._folder.absolute()), made_with(python=limits.python), of, exclude, limits]
        key = digest(msgspec.msgpack.encode(made_from))
        answer: Any = self._recalled(key)
        if answer is None:
            start = time.time_ns()
            worker = self._workers.get(limits.python, gpu=limits.uses_gpu)
            answer = worker.list_models(of, exclude, limits, self._paths)
            if isinstance(answer, ListedModels) and not is_any_newer(answer.sources, start):
                # whatever can't be imported may depend on more than sources
                memory = self._workers.ended if answer.problems else self._failures
                memory.note(key, answer, self._looked_in, limits.python)
        return answer  # type: ignore[no-any-return]

    def interpreter(self, options: Options) -> str | None:
        """Return the interpreter that runs a model; None for the current one."""
        python = options.limits.python
        if python is None or Path(python).name == python:
            return python and (shutil.which(python) or python)
        # not resolved, because an environment's interpreter is a link to another folder
        return str((self._paths[0] if self._paths else self._folder).absolute() / Path(python).expanduser())

    def calls_for(self, options: Options) -> list[str]:
        """List the file of recorded calls if a model's arguments or inputs depend on it."""
        return [str(self._calls.absolute())] if self._calls and self._calls.is_file() and is_open(options.call) else []

    def remembered_failure(self, options: Options) -> str | None:
        """Return the key of a model's remembered failure; None if it would run again."""
        _, key = self._keys(self._completed(options))
        return key if self.failing([key]) else None

    def failing(self, keys: Iterable[str]) -> frozenset[str]:
        """Return the keys of remembered failures that would recur."""
        keys = [*keys]
        return self._failures.failing(keys) | self._workers.ended.failing(keys)

    def _completed(self, options: Options) -> Options:
        """Complete options with the interpreter's path and the model's recorded call; both are part of the keys."""
        limits = msgspec.structs.replace(options.limits, python=self.interpreter(options))
        call = with_recorded(options.call, self._calls) if self._calls else options.call
        return msgspec.structs.replace(options, limits=limits, call=call)

    def _keys(self, options: Options) -> tuple[str, str]:
        """Return the keys of graph and failure; the latter includes limits, which may cause failures."""
        key = make_graph_key(options, self._folder)
        return key, digest(key.encode(), msgspec.msgpack.encode(options.limits))

    def _announce(self, options: Options) -> None:
        if self.on_trace:
            self.on_trace(options.call.model)

    def _known(self, model: str, key: str, failure_key: str) -> LoadedGraph | Refused | None:
        """Return the cached graph or the remembered failure."""
        if self._cache and (cached := self._cache.graph(key)):
            return msgspec.structs.replace(cached, problem=make_forward_problem(model, cached.graph))
        answer = self._recalled(failure_key)
        return load_graph(answer, model) if answer else None

    def _recalled(self, failure_key: str) -> Any:
        return self._failures.recall(failure_key) or self._workers.ended.recall(failure_key)

    def _newly_traced(self, options: Options) -> tuple[LoadedGraph | Refused, str]:
        model, python = options.call.model, options.limits.python
        start = time.time_ns()
        answer = self._workers.get(python, gpu=options.limits.uses_gpu).trace(options, self._paths)
        output, answer = answer.output, msgspec.structs.replace(answer, output="")
        answer = self._with_sources(answer, model)
        loaded = load_graph(answer, model)
        # a source edited meanwhile may not be the traced one
        if not is_any_newer(answer.sources, start):
            self._keep(options, answer, loaded)
        return loaded, output

    def _keep(self, options: Options, answer: Traced | Refused, loaded: LoadedGraph | Refused) -> None:
        python = options.limits.python
        if isinstance(answer, Traced) and isinstance(loaded, LoadedGraph) and loaded.graph.status.state != "partial":
            if self._cache and not answer.may_differ:
                names = [*loaded.own_names, options.call.model]
                key, *others = (make_graph_key(options.called(name), self._folder) for name in names)
                self._cache.add_graph(key, answer, python, other_keys={*others} - {key})
        else:
            self._note(self._keys(options)[1], answer, loaded.problem, python)

    def _note(self, failure_key: str, answer: Traced | Refused, problem: Problem | None, python: str | None) -> None:
        """Remember a failure; on disk only if other processes would get the same."""
        if problem is None:
            return
        if problem.kind in RECURRING and not answer.may_differ:
            self._failures.note(failure_key, answer, self._looked_in, python)
        elif problem.kind == "worker" and problem.frames:  # otherwise the worker itself failed
            self._workers.ended.note(failure_key, answer, self._looked_in, python)

    def _with_sources(self, answer: A, model: str) -> A:
        """Add source files to the answer of a stopped process, which couldn't name them."""
        if not (isinstance(answer, Refused) and answer.problem.kind == "worker"):
            return answer
        return msgspec.structs.replace(answer, sources=tuple(sorted({*self._package_files(model)})))

    @property
    def _looked_in(self) -> list[Path]:
        """Folders in addition to ``sys.path`` where a model's package is or may appear."""
        return [*self._paths, *list_src(self._paths)]

    def _package_files(self, model: str) -> tuple[str, ...]:
        """Return all files of a model's package, because it is unknown which of them a stopped model loaded."""
        package = get_package(model)
        folders = [path / package for path in self._looked_in]
        files = [file for folder in folders for file in (folder.with_suffix(".py"), *folder.rglob("*.py"))]
        return tuple(str(file) for file in files if file.is_file())
