"""A process that has imported PyTorch, and is forked for every model. Only on Linux.

    documentation ─ spawns ─ template ─ forks ─ guard ─ forks ─ model
                        └ forks ─ template with a library's modules ─ …

A model's changes to its process end with it, and a fork takes milliseconds. A guard, which runs no user code, limits
the model's time, notices how its process ends, and cleans up, even if the documentation's process ends. A template
has imported PyTorch and libraries, but never runs an op on numbers, because a fork would lack the threads that compute
it, and wait for them forever.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import socket
import sys
import threading
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from modeldiagrams.common.user_files import list_library_folders
from modeldiagrams.common.version import read_version
from modeldiagrams.worker.answering import get_ready, trace_models
from modeldiagrams.worker.child import adopt_orphans, end_descendants
from modeldiagrams.worker.process import Process
from modeldiagrams.worker.protocol import Hello, ModelRequest, receive, send

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ask_for_fork", "serve_forks"]

_LARGEST_PACKET = 2**17
"""In bytes; Linux refuses packets of about 200,000 or more."""
_NO_MODULES = zlib.compress(msgspec.msgpack.encode(()))

_REQUEST: Any = ModelRequest  # a union is a type to msgspec, not to mypy

_leave = os._exit


def ask_for_fork(control: socket.socket, modules: Sequence[str]) -> socket.socket:
    """Ask a template to fork a guard.

    Args:
        control: The template's control socket.
        modules: Library modules that the fork needs; if there are too many, it imports them itself.

    Returns:
        A connection to the guard, for one `ModelRequest` and one answer.

    Raises:
        OSError: if the template has ended.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            socket.send_fds(control, [_read_packet(modules)], [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
    return ours


def _read_packet(modules: Sequence[str]) -> bytes:
    packet = zlib.compress(msgspec.msgpack.encode(modules))
    return packet if len(packet) <= _LARGEST_PACKET else _NO_MODULES


def serve_forks(control: socket.socket) -> NoReturn:
    """Run a template until all other ends of its control socket are closed."""
    gc.disable()  # PyTorch's import leaves little garbage, and the collector would search for it again and again
    send(sys.stdout.buffer, Hello(version=read_version(), libraries=list_library_folders()))
    os.dup2(2, 1)
    adopt_orphans()
    get_ready()
    _serve(control)


def _serve(control: socket.socket) -> NoReturn:
    gc.freeze()  # the collector would write to every object, and written memory is no longer shared
    gc.enable()
    templates: dict[bytes, socket.socket | None] = {}
    while True:
        packet, files, *_ = socket.recv_fds(control, _LARGEST_PACKET, 1)
        if not packet:
            end_descendants()
            _leave(0)
        _forget_ended_children()
        for file in files:
            with socket.socket(fileno=file) as conversation:
                if not _hand_on(packet, conversation, templates):
                    _fork_guard(conversation)


def _forget_ended_children() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _hand_on(packet: bytes, conversation: socket.socket, templates: dict[bytes, socket.socket | None]) -> bool:
    """Pass a fork on to a template that has imported more; return False if there is none."""
    modules = msgspec.msgpack.decode(zlib.decompress(packet), type=tuple[str, ...])
    if not modules:
        return False
    if packet not in templates:
        templates[packet] = _fork_template(modules)
    template = templates[packet]
    if template is None:
        return False
    try:
        socket.send_fds(template, [_NO_MODULES], [conversation.fileno()])
    except OSError:
        templates[packet] = None
        return False
    return True


def _fork_template(modules: Sequence[str]) -> socket.socket | None:
    """Fork a template with these modules; None if their import started threads, which forks would lack."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        if not os.fork():
            _keep_only(theirs)
            gc.disable()
            if _has_imported(modules):
                theirs.send(_NO_MODULES)
                _serve(theirs)
            _leave(0)
    return ours if ours.recv(_LARGEST_PACKET) else None


def _has_imported(modules: Sequence[str]) -> bool:
    before = _count_threads()
    for name in modules:
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    return _count_threads() == before


def _count_threads() -> int:
    return len([*Path("/proc/self/task").iterdir()])


def _fork_guard(conversation: socket.socket) -> None:
    if not os.fork():
        _keep_only(conversation)
        _guard(conversation)


def _keep_only(connection: socket.socket) -> None:
    """Close the parent's connections in a fork, and reset the handling of children."""
    os.closerange(3, connection.fileno())
    os.closerange(connection.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    adopt_orphans()


def _guard(conversation: socket.socket) -> NoReturn:
    """Let a fork trace a model, and answer for it."""
    with conversation.makefile("rwb") as file:
        request = receive(file, _REQUEST)
        process = Process.fork(trace_models)
        threading.Thread(target=_end_with, args=[conversation, process], daemon=True).start()
        answer = process.run(request)
        process.end()
        end_descendants()
        send(file, answer)
    _leave(0)


def _end_with(conversation: socket.socket, process: Process) -> NoReturn:
    """End the model when the documentation's process does."""
    conversation.recv(1)
    process.kill()
    end_descendants()
    _leave(0)
