"""Runs the viewer in an embedded V8, one per process, started when needed."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, cast

from modeldiagrams.errors import RenderError

if TYPE_CHECKING:
    from pathlib import Path

    from py_mini_racer import JSFunction, JSPromise, MiniRacer

__all__ = ["call"]

TIMEOUT = 600.0
"""Seconds for one picture. Usual ones take milliseconds, so even on a busy machine only a hang takes minutes."""

_ADDRESS_SPACE = 256
"""GiB that V8 reserves at least. It uses little of it, but kills the process if it can't reserve it."""

_LOCKS: dict[int, Lock] = {}
"""Locks by process, because a context draws one picture at a time, and forks must not wait for parents' threads."""

_PLACE = re.compile(r"^\S*:\d+: ")
_LONGEST_MESSAGE = 300


def call(viewer: Path, function: str, *arguments: str) -> str:
    """Call a function of the viewer.

    Args:
        viewer: The script that defines it, usable when its promise ``modelDiagrams.ready`` resolves.
        function: A property of ``modelDiagrams``. If it returns nothing because dot crashed, ``retry`` continues.
        arguments: Arguments, passed as JavaScript strings.

    Returns:
        The result as text.

    Raises:
        RenderError: if the function throws or takes too long.
    """
    # in a separate thread, because mini-racer refuses to wait in an asyncio loop, as in notebooks
    with _LOCKS.setdefault(os.getpid(), Lock()), ThreadPoolExecutor(1) as thread:
        return thread.submit(_call, viewer, function, *arguments).result()


def _call(viewer: Path, name: str, *arguments: str) -> str:
    # imported only here, because hosts never draw in their own process
    from py_mini_racer import JSEvalException, JSTimeoutException  # noqa: PLC0415

    context = _create_context(os.getpid(), viewer)
    try:
        function = cast("JSFunction", context.eval(f"modelDiagrams.{name}"))
        answer = function(*arguments, timeout_sec=TIMEOUT)
        while answer == "":  # each attempt has its own time limit, and the viewer limits their number
            _wait_until_ready(context)
            answer = context.eval("modelDiagrams.retry()", timeout_sec=TIMEOUT)
        return str(answer)
    except JSTimeoutException as error:
        context.eval("0")  # returns when the interrupted script has ended, and only then the context may be closed
        _drop(context)
        raise RenderError(
            f"drawing took longer than {TIMEOUT:g} s and was given up; show less at first (option `depth`)"
        ) from error
    except JSEvalException as error:
        # after a crash of the layout's WebAssembly the context is not to be trusted again
        _drop(context)
        raise RenderError(f"the viewer could not draw this graph: {_clean_message(str(error))}") from error


@functools.cache
def _create_context(_process: int, viewer: Path) -> MiniRacer:
    """Create the process's context with the viewer; a forked child can't use its parent's."""
    from py_mini_racer import DEFAULT_V8_FLAGS, MiniRacer, init_mini_racer  # noqa: PLC0415

    _check_address_space()
    # On processors with memory protection keys, V8 would protect its code with one, and a thread that doesn't descend
    # from the one that started V8 would crash when it closes a context.
    init_mini_racer(flags=(*DEFAULT_V8_FLAGS, "--no-memory-protection-keys"), ignore_duplicate_init=True)
    context = MiniRacer()
    # Closing a context waits for V8's threads. They are gone in a forked child, and when Python is being taken down:
    # the garbage collector would hang there for ever. So contexts are closed by hand or not at all.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(context))
    context.eval(viewer.read_text("utf-8"), timeout_sec=TIMEOUT)
    _wait_until_ready(context)
    return context


def _check_address_space() -> None:
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415  (there is none on Windows)

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < _ADDRESS_SPACE * 2**30:
        raise RenderError(
            f"drawing needs {_ADDRESS_SPACE} GB of address space, of which it uses little, but this process may take"
            f" {limit / 2**30:.1f} GB; `ulimit -v unlimited` lifts the limit"
        )


def _wait_until_ready(context: MiniRacer) -> None:
    """Dot is WebAssembly, which is compiled in the background."""
    cast("JSPromise", context.eval("modelDiagrams.ready")).get(timeout=TIMEOUT)


def _drop(context: MiniRacer) -> None:
    """Close a context, so that the next script gets a new one."""
    _create_context.cache_clear()
    context.close()


def _clean_message(message: str) -> str:
    """V8's messages quote the line they come from, and the viewer is one line of more than a megabyte."""
    first = _PLACE.sub("", message.strip().partition("\n")[0])
    return first if len(first) <= _LONGEST_MESSAGE else first[: _LONGEST_MESSAGE - 1] + "…"
