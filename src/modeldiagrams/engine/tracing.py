"""Graphs of models: from the cache, or else from a worker; what failed is not tried in vain."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.common.user_files import src_folders
from modeldiagrams.engine.cache import Cache, graph_key
from modeldiagrams.engine.failures import RECURRING, FailureMemory
from modeldiagrams.engine.loaded import LoadedGraph, loaded_from
from modeldiagrams.engine.problems import forward_problem
from modeldiagrams.engine.sources import is_any_newer
from modeldiagrams.options.options import package_of
from modeldiagrams.worker import Problem, Refused, Traced, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from modeldiagrams.engine.store import Store
    from modeldiagrams.options.options import Options

__all__ = ["Tracing", "Workers"]

A = TypeVar("A", bound="Traced | Refused")


class Workers:
    """A worker for each environment that models run in, started when it is needed.

    Attributes:
        ended: Models that ended their process: not run again by this process, but by the next one.
    """

    def __init__(self) -> None:
        self.ended = FailureMemory()
        self._workers: dict[tuple[str | None, bool], Worker] = {}

    def get(self, python: str | None, *, gpu: bool) -> Worker:
        """The worker of an interpreter, with or without a GPU."""
        return self._workers.setdefault((python, gpu), Worker(python, gpu=gpu))

    def close(self) -> None:
        """End their processes."""
        for worker in self._workers.values():
            worker.close()

    def renew(self) -> None:
        """Get ready for edited sources."""
        for worker in self._workers.values():
            worker.renew()


class Tracing:
    """Traces models for one project.

    Attributes:
        on_trace: Called with the name of every model that is about to be run, which may take a while.
    """

    def __init__(self, store: Store | None, workers: Workers, folder: Path, paths: Sequence[Path]) -> None:
        """Start nothing yet.

        Args:
            store: Keeps graphs and failures between builds.
            workers: Run the models.
            folder: Of the documentation.
            paths: Folders to import models from, before those of this process's ``sys.path``.
        """
        self.on_trace: Callable[[str], object] | None = None
        self._cache = Cache(store) if store else None
        self._failures = FailureMemory(store)
        self._workers = workers
        self._folder = folder
        self._paths = tuple(paths)
        self._fresh: dict[str, tuple[LoadedGraph | Refused, str]] = {}

    def graph(self, options: Options) -> tuple[LoadedGraph | Refused, str]:
        """Take a graph from the cache, or trace it.

        Args:
            options: The model and its limits.

        Returns:
            The graph or why there is none, and what the model printed if it was run.
        """
        options = self._with_interpreter(options)
        key, failure_key = self._keys(options)
        if fresh := self._fresh.pop(failure_key, None):
            return fresh
        if known := self._known(options.call.model, key, failure_key):
            return known, ""
        self._announce(options)
        return self._newly_traced(options)

    def prefetch(self, wanted: Iterable[Options]) -> None:
        """Trace what is not known of many models, one for each core at a time; `graph` then has them at hand."""
        uncached: dict[str, Options] = {}
        for options in map(self._with_interpreter, wanted):
            key, failure_key = self._keys(options)
            if failure_key not in uncached and not (self._cache and self._cache.has_graph(key)):
                uncached[failure_key] = options
        failing = self.failing(uncached)
        unknown = {key: options for key, options in uncached.items() if key not in failing}
        for options in unknown.values():
            self._announce(options)
        with _pool(len(unknown), self._workers) as pool:
            self._fresh |= zip(unknown, pool.map(self._newly_traced, unknown.values()), strict=True)

    def image(self, options: Options, function: str) -> Traced | Refused:
        """Take what a function makes of a model from the cache, or call it.

        Args:
            options: The model and its limits.
            function: ``pkg.mod:attr``, called with model, inputs and outputs.
        """
        options = self._with_interpreter(options)
        key, failure_key = (digest(key.encode(), function.encode()) for key in self._keys(options))
        if known := (self._cache and self._cache.image(key)) or self._recalled(failure_key):
            return known
        start, python = time.time_ns(), options.limits.python
        answer = self._workers.get(python, gpu=options.limits.uses_gpu).trace(options, self._paths, function=function)
        answer = self._with_sources(msgspec.structs.replace(answer, output=""), options.call.model, function)
        if is_any_newer(answer.sources, start):
            return answer
        if isinstance(answer, Refused):
            self._note(failure_key, answer, answer.problem, python)
        elif self._cache:
            self._cache.add_image(key, answer, python)
        return answer

    def interpreter(self, options: Options) -> str | None:
        """The interpreter that runs a model; None for this process's."""
        python = options.limits.python
        if python is None or Path(python).name == python:
            return python and (shutil.which(python) or python)
        # not resolved: an environment's interpreter is a link out of it
        return str((self._paths[0] if self._paths else self._folder).absolute() / Path(python).expanduser())

    def remembered_failure(self, options: Options) -> str | None:
        """Key of the failure that is remembered of a model; None if it would be run again."""
        _, key = self._keys(self._with_interpreter(options))
        return key if self.failing([key]) else None

    def failing(self, keys: Iterable[str]) -> frozenset[str]:
        """Those of remembered failures that would come again."""
        keys = [*keys]
        return self._failures.failing(keys) | self._workers.ended.failing(keys)

    def _with_interpreter(self, options: Options) -> Options:
        limits = msgspec.structs.replace(options.limits, python=self.interpreter(options))
        return msgspec.structs.replace(options, limits=limits)

    def _keys(self, options: Options) -> tuple[str, str]:
        """Of the graph, and of the failure: a model may fail because of its limits."""
        key = graph_key(options, self._folder)
        return key, digest(key.encode(), msgspec.msgpack.encode(options.limits))

    def _announce(self, options: Options) -> None:
        if self.on_trace:
            self.on_trace(options.call.model)

    def _known(self, model: str, key: str, failure_key: str) -> LoadedGraph | Refused | None:
        """The graph in the cache, or the failure that is remembered."""
        if self._cache and (cached := self._cache.graph(key)):
            return msgspec.structs.replace(cached, problem=forward_problem(model, cached.graph))
        answer = self._recalled(failure_key)
        return loaded_from(answer, model) if answer else None

    def _recalled(self, failure_key: str) -> Traced | Refused | None:
        return self._failures.recall(failure_key) or self._workers.ended.recall(failure_key)

    def _newly_traced(self, options: Options) -> tuple[LoadedGraph | Refused, str]:
        model, python = options.call.model, options.limits.python
        start = time.time_ns()
        answer = self._workers.get(python, gpu=options.limits.uses_gpu).trace(options, self._paths)
        output, answer = answer.output, msgspec.structs.replace(answer, output="")
        answer = self._with_sources(answer, model)
        loaded = loaded_from(answer, model)
        # a source that was edited meanwhile is not what was traced
        if not is_any_newer(answer.sources, start):
            self._keep(options, answer, loaded)
        return loaded, output

    def _keep(self, options: Options, answer: Traced | Refused, loaded: LoadedGraph | Refused) -> None:
        python = options.limits.python
        if isinstance(answer, Traced) and isinstance(loaded, LoadedGraph) and loaded.graph.status.state != "partial":
            if self._cache and not answer.may_differ:
                names = [*loaded.own_names, options.call.model]
                key, *others = (graph_key(options.called(name), self._folder) for name in names)
                self._cache.add_graph(key, answer, python, other_keys={*others} - {key})
        else:
            self._note(self._keys(options)[1], answer, loaded.problem, python)

    def _note(self, failure_key: str, answer: Traced | Refused, problem: Problem | None, python: str | None) -> None:
        """Remember a failure, on disk only if another process would get the same."""
        if problem is None:
            return
        if problem.kind in RECURRING and not answer.may_differ:
            self._failures.note(failure_key, answer, self._looked_in, python)
        elif problem.kind == "worker" and problem.frames:  # without a line of user code it was the worker itself
            self._workers.ended.note(failure_key, answer, self._looked_in, python)

    def _with_sources(self, answer: A, *names: str) -> A:
        """An answer with the files that a stopped process did not name."""
        if not (isinstance(answer, Refused) and answer.problem.kind == "worker"):
            return answer
        files = {file for name in names for file in self._package_files(name)}
        return msgspec.structs.replace(answer, sources=tuple(sorted(files)))

    @property
    def _looked_in(self) -> list[Path]:
        """Folders besides ``sys.path`` where a model's package may be, or may appear."""
        return [*self._paths, *src_folders(self._paths)]

    def _package_files(self, model: str) -> tuple[str, ...]:
        """All files of a model's package: which of them a stopped model had loaded is unknown."""
        package = package_of(model)
        folders = [path / package for path in self._looked_in]
        files = [file for folder in folders for file in (folder.with_suffix(".py"), *folder.rglob("*.py"))]
        return tuple(str(file) for file in files if file.is_file())


@contextlib.contextmanager
def _pool(most: int, workers: Workers) -> Iterator[ThreadPoolExecutor]:
    """Threads, each of which waits for one model. If one fails, or the build is interrupted, no other is waited for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pool = ThreadPoolExecutor(max(1, min(most, cores or 1)))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        workers.close()
        raise
    finally:
        pool.shutdown()
