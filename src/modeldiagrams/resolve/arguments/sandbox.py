"""Keeps constructors that run with guessed arguments away from files, connections and programs."""

from __future__ import annotations

import builtins
import io
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.resolve.arguments.argument_stubs import slots_of
from modeldiagrams.resolve.code.user_code import silenced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["sandboxed"]

_CLOSED: tuple[tuple[Any, str], ...] = (
    (os, "mkdir"),
    (os, "remove"),
    (os, "unlink"),
    (os, "rmdir"),
    (os, "rename"),
    (os, "replace"),
    (os, "close"),
    (os, "open"),
    (os, "symlink"),
    (os, "link"),
    (os, "_exit"),
    (os, "system"),
    (socket.socket, "connect"),
    (subprocess.Popen, "__init__"),
    (torch, "save"),  # it opens files in C++
)
"""What no constructor may do while its arguments are looked for."""


@contextmanager
def sandboxed() -> Iterator[None]:
    """Refuse to write files, to leave the process, and to read files with guessed names; print nothing."""
    places = [*_CLOSED, (builtins, "open"), (io, "open")]
    before = [(owner, name, getattr(owner, name)) for owner, name in places]
    for owner, name in _CLOSED:
        setattr(owner, name, _closed(name, getattr(owner, name)))
    builtins.open = io.open = _reading(io.open)
    try:
        with silenced():
            yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _closed(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def closed(*args: Any, **kwargs: Any) -> Any:
        if _is_importing():
            return real(*args, **kwargs)
        raise PermissionError(f"{name} is not called while constructor arguments are looked for")

    return closed


def _reading(real: Callable[..., Any]) -> Callable[..., Any]:
    def reading(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        is_made_up = slots_of(file) or isinstance(file, int) or set(mode) & set("wax+")
        if is_made_up and not _is_importing():
            raise FileNotFoundError(f"{file!r} is not opened while constructor arguments are looked for")
        return real(file, mode, *args, **kwargs)

    return reading


def _is_importing() -> bool:
    """Whether a module is being imported, which must not be left half done."""
    frame = sys._getframe()  # noqa: SLF001
    while frame.f_back is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
