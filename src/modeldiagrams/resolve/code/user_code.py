"""Runs user code with the same random numbers every time, and turns whatever it raises into a `TargetError`."""

from __future__ import annotations

import io
import logging
import random
import re
import sys
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from modeldiagrams.common.class_facts import name_of
from modeldiagrams.common.user_files import is_library, is_ours, is_user_file, shorten_path
from modeldiagrams.errors import TargetError
from modeldiagrams.options.options import get_package

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "failure",
    "is_external",
    "is_out_of_memory",
    "loaded_files",
    "loaded_sources",
    "seeded",
    "silenced",
    "user_code",
]

_OUT_OF_MEMORY = re.compile(r"\bMemoryError\b|bad_alloc|an(no|')t allocate memory|out of memory", re.IGNORECASE)

_LONGEST_MESSAGE = 1000


@contextmanager
def user_code(doing: str) -> Iterator[None]:
    """Seed the block's random numbers and turn what it raises into a `TargetError`.

    Args:
        doing: What is being done, the subject of the message: ``calling mypkg.Model``.
    """
    try:
        with seeded():
            yield
    # a model's `sys.exit()` ends neither the build nor the process that serves other models
    except (Exception, SystemExit) as error:
        raise failure(doing, error) from error


@contextmanager
def seeded() -> Iterator[None]:
    """Seed the block's random numbers, the same in every process; restore the generators afterwards."""
    state = random.getstate()
    with torch.random.fork_rng(devices=()), _seeded_numpy():
        random.seed(0)
        _seed_torch()
        try:
            yield
        finally:
            random.setstate(state)


@contextmanager
def silenced() -> Iterator[None]:
    """Drop what the block prints and logs, as PyTorch logs every op that fake tensors can't be given to."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(level)


def _seed_torch() -> None:
    """Seed all of PyTorch's generators: alone the CPU's, in builds of PyTorch for no other device.

    `torch.manual_seed` formats the call stack for each kind of device, which takes longer than making many a model.
    """
    if torch.accelerator.current_accelerator() is None:
        torch.default_generator.manual_seed(0)
    else:
        torch.manual_seed(0)


@contextmanager
def _seeded_numpy() -> Iterator[None]:
    """The same for NumPy, if it is imported: the import alone takes longer than many a model."""
    numpy = getattr(sys.modules.get("numpy"), "random", None)
    if numpy is None:
        yield
        return
    state = numpy.get_state()
    numpy.seed(0)
    try:
        yield
    finally:
        numpy.set_state(state)


def failure(doing: str, error: BaseException) -> TargetError:
    """What user code raised, as our error."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001  (even an exception's own `__str__` is user code)
        message = "(its message can't be shown)"
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[: _LONGEST_MESSAGE - 1]}…"
    return TargetError(
        f"{doing} raised {name_of(type(error))}: {message}".removesuffix(": "),
        user_frames(error),
    )


def user_frames(error: BaseException) -> tuple[str, ...]:
    """Lines of user code on the way to an error, innermost last, as ``file:line in function``.

    Files are relative to their import root. An error that never passed through user code shows its last line.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_ours(frame.filename)]
    if isinstance(error, SyntaxError) and error.filename:
        # the file that could not be compiled has no frame of its own
        frames.append(traceback.FrameSummary(error.filename, error.lineno, "<module>", lookup_line=False))
    shown = [frame for frame in frames if not is_library(frame.filename)] or frames[-1:]
    return tuple(f"{shorten_path(frame.filename, roots=sys.path)}:{frame.lineno} in {frame.name}" for frame in shown)


def loaded_sources(named: Iterable[str | None], error: BaseException | None = None) -> tuple[str, ...]:
    """The user's files whose change may make a model that could not be made.

    Args:
        named: The author's dotted paths: loaded files of their packages count.
        error: Why it could not be made: a file whose import failed is not loaded any more, but counts, too.
    """
    packages = {get_package(path) for path in named if path}
    loaded = _files(module for name, module in list(sys.modules.items()) if name.split(".")[0] in packages)
    return tuple(sorted({*loaded, *_passed_through(error)}))


def is_external(error: BaseException) -> bool:
    """Whether a file or a connection failed on the way to an error; that may change while all sources stay."""
    return any(isinstance(cause, OSError) for cause in _causes(error))


def is_out_of_memory(error: str) -> bool:
    """Whether the type and message of an error mean that memory ran out."""
    return bool(_OUT_OF_MEMORY.search(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and the errors that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _passed_through(error: BaseException | None) -> set[str]:
    """The user's files in the tracebacks of an error and of the errors that led to it."""
    files: set[str] = set()
    for cause in _causes(error):
        files.update(frame.filename for frame in traceback.extract_tb(cause.__traceback__))
        if isinstance(cause, SyntaxError) and cause.filename:
            files.add(cause.filename)
    return {file for file in files if is_user_file(file) and Path(file).is_file()}


def loaded_files() -> tuple[str, ...]:
    """Absolute files of all loaded modules that are the user's own."""
    return _files(list(sys.modules.values()))


def _files(modules: Iterable[object]) -> tuple[str, ...]:
    files = {file for module in modules if isinstance(file := getattr(module, "__file__", None), str)}
    return tuple(sorted(file for file in files if is_user_file(file)))
