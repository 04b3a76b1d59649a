"""Traces models in other processes or on other machines, in the same isolation and with the same limits as here.

Here, `RemoteWorker` sends orders through a function. There, `run_order` checks that the same code would run, and lets
a worker of its own run the model.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import importlib.util
import itertools
import socket
import sys
from multiprocessing import util
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from modeldiagrams.common.environment import list_distributions, list_versions, made_with
from modeldiagrams.common.files import digest, digest_file
from modeldiagrams.common.user_files import is_library, list_src
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker.cleaning import clean_answer
from modeldiagrams.worker.protocol import ModelAnswer, ModelRequest, Problem, Refused, decode, encode
from modeldiagrams.worker.worker import BaseWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Ask", "RemoteWorker", "refuse_order", "run_order"]

_THERE = ""
"""Stands for the other process's ``sys.path`` in a request's path."""

Ask: TypeAlias = "Callable[[bytes], bytes]"
"""Lets `run_order` answer an order in another process. Several threads may call it."""


_REQUEST: Any = ModelRequest  # a union is a type to msgspec, not to mypy


class _Order(msgspec.Struct, frozen=True):
    python: str | None
    """The interpreter that runs the model; None for the executor's."""
    tools: str
    """See `_describe_tools`."""
    packages: tuple[str, ...]
    """See `_describe_package`."""
    request: bytes
    """A `ModelRequest`, read only by the same version."""


class _Delivery(msgspec.Struct, frozen=True):
    answer: ModelAnswer
    place: str = ""
    """The other machine's name."""
    sources: dict[str, str | None] = {}
    """Digests of the answer's sources there."""
    libraries: dict[str, str] = {}
    """Versions of the answer's libraries there."""


class RemoteWorker(BaseWorker):
    """Lets other processes run models; several threads may use it.

    An answer counts only if the other process used the same files and versions as there are here, because it is kept
    as if the model had run here.
    """

    def __init__(self, ask: Ask, end: Callable[[], object]) -> None:
        """Prepare to send orders with `ask`; `end` cancels those without an answer."""
        super().__init__()
        self._ask = ask
        self._end = end
        self._describe = functools.cache(_describe_package)

    def run(self, request: ModelRequest) -> ModelAnswer:
        """Run a model in another process.

        Raises:
            WorkerError: if no model can run there.
        """
        python = request.limits.python
        packages = tuple(self._describe(name, request.path, python) for name in request.packages)
        order = encode(_Order(python, _describe_tools(python), packages, encode(request)))
        delivery = decode(self._ask(order), _Delivery)
        try:
            return _with_sources_here(delivery, request)
        except WorkerError as error:
            return Refused(problem=Problem(kind="worker", message=f"{request.doing} {error}"), may_differ=True)

    def close(self) -> None:
        """Cancel what waits for an answer."""
        self._end()

    def renew(self) -> None:
        """Look at the models' packages again."""
        self._describe.cache_clear()

    def _import_path(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Return the folders as for a process here, but with the other process's libraries in the place of ours."""
        own = [_THERE if is_library(entry) else str(Path(entry).absolute()) for entry in sys.path]
        given, src = ([str(path.absolute()) for path in found] for found in (paths, list_src(paths)))
        return tuple(dict.fromkeys([*given, *own, *src]))


def run_order(content: bytes) -> bytes:
    """Run a model in a worker of this process.

    Args:
        content: An order of `RemoteWorker`.

    Returns:
        The answer, and what it rests on.

    Raises:
        WorkerError: if no model can run here, or not as in the process that sent the order.
    """
    order = decode(content, _Order)
    python = order.python
    _check(order.tools, _describe_tools(python))
    request = decode(order.request, _REQUEST)
    own = () if python else tuple(str(Path(entry).absolute()) for entry in sys.path)
    path = tuple(entry for part in request.path for entry in (own if part == _THERE else [part]))
    request = msgspec.structs.replace(request, path=path)
    for name, described in zip(request.packages, order.packages, strict=True):
        _check_package(name, described, path, python)
    answer = clean_answer(_find_worker(python, gpu=request.limits.uses_gpu).run(request), path)
    libraries = () if isinstance(answer, Refused) else answer.libraries
    sources = {file: _digest(file) for file in answer.sources}
    return encode(_Delivery(answer, socket.gethostname(), sources, list_versions(libraries, python)))


def refuse_order(content: bytes, error: BaseException) -> bytes:
    """Answer an order that failed outside of `run_order`, which costs this model only."""
    doing = decode(decode(content, _Order).request, _REQUEST).doing
    message = f"{doing} failed on the executor with {type(error).__name__}: {error}".removesuffix(": ")
    return encode(_Delivery(Refused(problem=Problem(kind="worker", message=message), may_differ=True)))


_workers: dict[tuple[str | None, bool], BaseWorker] = {}


def _find_worker(python: str | None, *, gpu: bool) -> BaseWorker:
    """Return a worker of this process, which is kept for the next orders because it has imported torch."""
    from modeldiagrams.worker import Worker  # noqa: PLC0415  (the package imports this module)

    if not _workers:
        util.Finalize(None, _close_workers, exitpriority=1)  # processes of pools don't run `atexit`
    return _workers.setdefault((python, gpu), Worker(python, gpu=gpu))


def _close_workers() -> None:
    while _workers:
        _workers.popitem()[1].close()


def _check(wanted: str, found: str) -> None:
    if found != wanted:
        place = f"on {socket.gethostname()}, where the executor runs models"
        raise WorkerError(
            f"expected {wanted} as here, got {found} {place}; install the same there, or share the folder"
        )


def _describe_tools(python: str | None) -> str:
    code, version, major, minor, torch = made_with(python=python)
    return f"modeldiagrams {version} (code {code[:8]}), Python {major}.{minor} and torch {torch or '(none)'}"


@functools.lru_cache(maxsize=64)  # without errors
def _check_package(package: str, wanted: str, path: tuple[str, ...], python: str | None) -> None:
    _check(wanted, _describe_package(package, path, python))


def _describe_package(package: str, path: tuple[str, ...], python: str | None) -> str:
    """Describe a package that a process would import: by its version if it is installed, or else by its code."""
    entries = [found for entry in path for found in ([entry] if entry != _THERE else [] if python else sys.path)]
    spec = importlib.machinery.PathFinder.find_spec(package, entries)
    if python and not spec:
        return f"{package} {list_versions([package], python)[package]}"
    with contextlib.suppress(ImportError, ValueError):
        spec = spec or importlib.util.find_spec(package)  # an editable installation may have a finder of its own
    if spec is None:
        return f"no {package}"
    places = [*(spec.submodule_search_locations or [spec.origin or ""])]
    if is_library(places[0]):
        return ", ".join(" ".join(found) for found in list_versions(list_distributions([package])).items())
    files = [(place, file) for place in places for file in [Path(place), *sorted(Path(place).rglob("*.py"))]]
    parts = [(str(file)[len(place) :].encode(), file.read_bytes()) for place, file in files if file.is_file()]
    return f"{package} (code {digest(*(part for pair in parts for part in pair), size=4)})"


def _with_sources_here(delivery: _Delivery, request: ModelRequest) -> ModelAnswer:
    """Name the sources of an answer by their paths here.

    Raises:
        WorkerError: if a source or library differs from those here; its message is a sentence without a subject.
    """
    here = list_versions(delivery.libraries, request.limits.python)
    for name, version in delivery.libraries.items():
        if here[name] != version:
            used = f"used {name} {version} on {delivery.place}"
            raise WorkerError(f"{used}, but here it is {here[name] or 'not installed'}; install the same")
    sources = []
    for file, there in delivery.sources.items():
        if not (found := _find_here(file, there, request.path)):
            name = PurePath(file).name
            raise WorkerError(f"used a file {name} on {delivery.place} that differs here; share its folder")
        sources.append(found)
    return msgspec.structs.replace(delivery.answer, sources=tuple(sources))


def _find_here(file: str, there: str | None, folders: Iterable[str]) -> str | None:
    """Find a file of another machine here, in a folder of imports or at the same place."""
    parts, roots = PurePath(file).parts[1:], [Path(folder) for folder in folders if folder != _THERE]
    imported = (str(root / PurePath(*parts[start:])) for start in range(len(parts)) for root in roots)
    is_known = any(PurePath(file).is_relative_to(root) for root in roots)
    candidates = itertools.chain([file] if is_known else [], imported, [file])
    return next((found for found in candidates if _digest(found) == there), None)


def _digest(file: str) -> str | None:
    try:
        return digest_file(Path(file))
    except OSError:
        return None
