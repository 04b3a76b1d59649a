"""Running user code: with the same random numbers every time, and whatever it raises becomes a `TargetError`."""

from __future__ import annotations

import functools
import random
import sys
import sysconfig
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from modeldiagrams.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modeldiagrams.options import Options

__all__ = ["failure", "is_user_file", "loaded_files", "loaded_sources", "seeded", "user_code", "user_frames"]

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
    """Random numbers that are the same in every process; afterwards the generators are as they were."""
    state = random.getstate()
    with torch.random.fork_rng(devices=()):
        random.seed(0)
        torch.manual_seed(0)
        try:
            yield
        finally:
            random.setstate(state)


def failure(doing: str, error: BaseException) -> TargetError:
    """What user code raised, as our error."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001  (even an exception's own `__str__` is user code)
        message = "(its message can't be shown)"
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[: _LONGEST_MESSAGE - 1]}…"
    return TargetError(f"{doing} raised {type(error).__name__}: {message}".removesuffix(": "), user_frames(error))


def user_frames(error: BaseException) -> tuple[str, ...]:
    """Lines of user code on the way to an error, innermost last, as ``file:line in function``.

    Files are relative to their import root. An error that never passed through user code shows its last line.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    if isinstance(error, SyntaxError) and error.filename:
        # the file that could not be compiled has no frame of its own
        frames.append(traceback.FrameSummary(error.filename, error.lineno, "<module>", lookup_line=False))
    shown = [frame for frame in frames if not _is_library(frame.filename)] or frames[-1:]
    return tuple(f"{_relative(frame.filename)}:{frame.lineno} in {frame.name}" for frame in shown)


def loaded_sources(options: Options, error: BaseException | None = None) -> tuple[str, ...]:
    """Absolute files, the user's own, that decide what becomes of a model that could not be made.

    Args:
        options: What was asked for: files of the packages that they name count, as far as they are loaded.
        error: Why it could not be made: what failed while it was imported is not loaded any more, but counts, too.
    """
    packages = {path.partition(":")[0].split(".")[0] for path in (options.model, options.inputs_from) if path}
    loaded = _files(module for name, module in list(sys.modules.items()) if name.split(".")[0] in packages)
    return tuple(sorted({*loaded, *_passed_through(error)}))


def _passed_through(error: BaseException | None) -> set[str]:
    """The user's files that an error, and those that led to it, came through."""
    files: set[str] = set()
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        files.update(frame.filename for frame in traceback.extract_tb(error.__traceback__))
        if isinstance(error, SyntaxError) and error.filename:
            files.add(error.filename)
        error = error.__cause__ or error.__context__
    return {file for file in files if is_user_file(file) and Path(file).is_file()}


def loaded_files() -> tuple[str, ...]:
    """Absolute files of all loaded modules that are the user's own."""
    return _files(list(sys.modules.values()))


def _files(modules: Iterable[object]) -> tuple[str, ...]:
    files = {file for module in modules if isinstance(file := getattr(module, "__file__", None), str)}
    return tuple(sorted(file for file in files if is_user_file(file)))


def is_user_file(file: str) -> bool:
    """Whether a file is the user's own work: no library and none of ours."""
    # some modules, torch's among them, claim files that there are not
    return Path(file).is_absolute() and not _is_library(file) and not _is_ours(file)


def _is_ours(file: str) -> bool:
    return file.startswith("<frozen ") or Path(__file__).parents[1] in Path(file).parents


def _is_library(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return any(root in Path(file).parents for root in _library_roots())


@functools.cache
def _library_roots() -> frozenset[Path]:
    """Folders of Python and of installed packages: an environment may see those of the system, or of the user, too."""
    own = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    installed = [entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}]
    return frozenset(map(Path, [*own, *installed]))


def _relative(file: str) -> str:
    """The file as seen from the import root it belongs to; no message shows where on a machine a project lies."""
    path = Path(file)
    roots = [Path(entry) for entry in sys.path if Path(entry) in path.parents]
    return path.relative_to(max(roots, key=lambda root: len(root.parts))).as_posix() if roots else path.name
