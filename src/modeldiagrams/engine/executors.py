"""Lets a documentation's builder trace models on several processes or machines.

A builder traces models in its own process, and the executor belongs to the process that starts the builder: each order
goes from the builder to that process, to the executor, and back. The builder keeps each graph in its cache as soon as
it comes, so after a failure of any part, the next run only traces what is missing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import BrokenExecutor, CancelledError
from functools import partial
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import click

from modeldiagrams.common.version import read_version
from modeldiagrams.engine.model_graphs import Workers
from modeldiagrams.errors import ModelDiagramsError, WorkerError
from modeldiagrams.worker.remote import RemoteWorker, refuse_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from multiprocessing.connection import Connection

__all__ = ["make_workers", "run_builder"]

_JOBS = "MODELDIAGRAMS_SNAPSHOT_JOBS"
"""Environment variable of a builder with the number of models to trace at a time."""
_RELAY = "MODELDIAGRAMS_SNAPSHOT_RELAY"
"""Environment variable of a builder with the key and address of its `_Relay`."""
_AT_A_TIME = 100
"""How many models an executor gets at a time by default. It has its own number of processes, which may grow."""
_DASK_PORT = 8786
_CONNECT_SECONDS = 10
_RUN = "__import__('modeldiagrams.worker.remote', fromlist=['run_order']).run_order(order)"
"""Imports by name, because a Dask scheduler would import a function of ours, and a worker that can't would end."""
_SHOW_CURSOR = "\n\033[?25h"
"""A builder that was ended below its progress bar leaves a terminal without a cursor."""
_WAITING = 128
"""How many connections may wait to be accepted."""


class _Submitter:
    """Lets an executor answer orders. Several threads may call it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._lock = threading.Lock()
        self._waiting: set[Any] = set()

    def __call__(self, order: bytes) -> bytes:
        """Answer an order; a failure of its model is an answer.

        Raises:
            WorkerError: if the executor can't run models at all.
        """
        future = None
        try:
            with self._lock:
                future = self._executor.submit(eval, _RUN, {"order": order})
                self._waiting.add(future)
            answer: bytes = future.result()
        except WorkerError:
            raise
        except (CancelledError, BrokenExecutor, ConnectionError) as error:
            what = f"the executor, or the connection to it, ended before all models were traced ({_describe(error)})"
            raise WorkerError(f"{what}; {_KEPT}") from error
        except (ImportError, AttributeError) as error:  # of `_RUN`, because `run_order` raises none
            wanted = f"modeldiagrams {read_version()} and PyTorch where the executor runs models"
            raise WorkerError(f"expected {wanted}, got {_describe(error)}; install them there") from error
        except Exception as error:
            if future is None:
                raise WorkerError(f"the executor takes no models ({_describe(error)}); {_KEPT}") from error
            answer = refuse_order(order, error)
        finally:
            self._waiting.discard(future)
        return answer

    def cancel(self) -> None:
        """Cancel what has not begun."""
        for future in [*self._waiting]:
            future.cancel()


_KEPT = "what was traced is kept, and the next run does the rest"


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def make_workers(executor: Executor | None = None, jobs: int | None = None) -> Workers:
    """Make the workers of a process: on an executor, or as `run_builder` wants them if it started this process.

    Args:
        executor: Runs the models.
        jobs: How many models run at a time.
    """
    jobs = jobs or int(os.environ.get(_JOBS, "0")) or None
    if executor is not None:
        submitter = _Submitter(executor)
        return Workers(jobs or _AT_A_TIME, RemoteWorker(submitter, submitter.cancel))
    if relay := os.environ.get(_RELAY):
        return Workers(jobs or _AT_A_TIME, RemoteWorker(partial(_ask_parent, relay), lambda: None))
    return Workers(jobs)


@contextlib.contextmanager
def _open_executor(executor: str | Executor) -> Iterator[Executor]:
    """Connect to an executor by its address, or yield the given one.

    Raises:
        ModelDiagramsError: if there is none.
    """
    if not isinstance(executor, str):
        if not callable(getattr(executor, "submit", None)):
            raise ModelDiagramsError(f"executor: expected {_EXPECTED}, got {executor!r}")
        yield executor
        return
    address = urlsplit(executor)
    try:
        host, port = address.hostname, address.port or _DASK_PORT
    except ValueError:  # not a number
        host = None
    if address.scheme != "dask" or not host:
        raise ModelDiagramsError(f"executor: expected {_EXPECTED}, got {executor!r}")
    try:
        from distributed import Client as Dask  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise ModelDiagramsError("executor: Dask is not installed here: pip install 'modeldiagrams[dask]'") from error
    for name in ("distributed", "distributed.client"):  # which would print tracebacks of what we report in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Dask(f"tcp://{host}:{port}", timeout=_CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        raise ModelDiagramsError(f"executor: expected a Dask scheduler at {executor}: {error}") from error
    with client:
        yield client.get_executor(pure=False)  # runs equal orders of two builds twice


_EXPECTED = "dask://HOST:PORT, or from Python an Executor of concurrent.futures"


class _Relay:
    """Lets an executor of this process answer the orders of a builder's process.

    Attributes:
        address: For the builder: its key, and where it connects.
        failure: Why no model can run.
    """

    def __init__(self, executor: Executor) -> None:
        key = os.urandom(16)
        self._submitter = _Submitter(executor)
        self._listener = Listener(backlog=_WAITING, authkey=key)
        self.address = f"{key.hex()} {self._listener.address}"
        self.failure: WorkerError | None = None
        self._is_closed = False
        self._end_builder: Callable[[], object] = lambda: None

    def serve(self, end_builder: Callable[[], object]) -> None:
        """Start to answer; `end_builder` is called when no model can run."""
        self._end_builder = end_builder
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._is_closed:
            with contextlib.suppress(OSError, EOFError, AuthenticationError):
                connection = self._listener.accept()
                threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with connection:
            try:
                connection.send_bytes(self._submitter(connection.recv_bytes()))
            except WorkerError as error:
                self.failure = self.failure or error
                self._end_builder()  # before it sees that nobody answers
            except (EOFError, OSError):
                return  # the builder has ended

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed = True
        self._submitter.cancel()
        with contextlib.suppress(OSError, EOFError, AuthenticationError):
            Client(self._listener.address).close()  # wakes the thread that accepts, if it has not ended already
        self._listener.close()


def _connect(relay: str) -> Connection:
    key, _, address = relay.partition(" ")
    return Client(address, authkey=bytes.fromhex(key))


def _ask_parent(relay: str, order: bytes) -> bytes:
    """Let the process that started this builder answer an order."""
    try:
        with _connect(relay) as connection:
            connection.send_bytes(order)
            return connection.recv_bytes()
    except (EOFError, OSError) as error:
        raise WorkerError("the process with the executor has ended") from error


def run_builder(
    command: Sequence[str], environment: Mapping[str, str], executor: str | Executor | None, jobs: int | None
) -> int:
    """Run a documentation's builder, which traces its models on an executor.

    Args:
        command: The builder.
        environment: Its environment variables.
        executor: Where models run; None for this machine.
        jobs: How many run at a time; by default one per core, or 100 on an executor, which may let them wait.

    Returns:
        The builder's exit status.

    Raises:
        ModelDiagramsError: if there is no such executor, or it can't run models.
    """
    if jobs is not None and jobs < 1:
        raise ModelDiagramsError(f"jobs: expected a whole number of at least 1, got {jobs}")
    environment = {**environment, **({_JOBS: str(jobs)} if jobs else {})}
    if executor is None:
        # the builder's output goes to stderr, because our stdout lists files
        return subprocess.run(command, check=False, env=environment, stdout=sys.__stderr__).returncode  # noqa: S603
    with _open_executor(executor) as opened, _Relay(opened) as relay:
        environment[_RELAY] = relay.address
        with subprocess.Popen(command, env=environment, stdout=sys.__stderr__) as builder:  # noqa: S603
            try:
                relay.serve(builder.terminate)
                status = builder.wait()
            except BaseException:
                builder.kill()
                raise
        if relay.failure:
            click.echo(_SHOW_CURSOR * sys.stderr.isatty(), nl=False, err=True)
            raise relay.failure
        return status
