"""What the documentation process and its tracing process say to each other.

A message is its length, eight bytes, and its content in MessagePack. (JSON would turn the integer keys that example
inputs may have into text.) Graphs travel inside as the JSON text that `serialize` writes.
"""

from typing import IO, Literal, TypeAlias, TypeVar

import msgspec

from modeldiagrams.options import Options
from modeldiagrams.render import Picture, View

__all__ = [
    "NO_TORCH",
    "Answer",
    "Drawn",
    "Hello",
    "Kind",
    "Lasting",
    "Mode",
    "Prepare",
    "Problem",
    "Ready",
    "Refused",
    "Render",
    "Request",
    "Trace",
    "Traced",
    "receive",
    "send",
]

NO_TORCH = (
    "PyTorch is not installed in the environment that runs the models: install it there, name another interpreter"
    " (option `python`), or commit the graphs (`modeldiagrams snapshot`)"
)

_LENGTH = 8
_LONGEST = 2**36
"""Bytes. Text, say of an interpreter that prints something when it starts, would be read as a far larger number."""

T = TypeVar("T")

Kind: TypeAlias = Literal["model", "inputs", "forward", "graph-file", "snapshot", "option", "worker", "render"]
Mode: TypeAlias = Literal["auto", "fake", "meta", "real"]
Lasting: TypeAlias = Literal["nothing", "import", "run"]
"""What a model changed for those after it: nothing, something when its package was imported, or when it was run."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no diagram, or not all of it."""

    kind: Kind
    message: str
    """One or more lines; the first is one complete sentence."""
    frames: tuple[str, ...] = ()
    """Lines of user code on the way to it, innermost last, as ``file:line in function``."""


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The process's first message, before any request."""

    version: str
    """Of its modeldiagrams."""
    libraries: tuple[str, ...]
    """Folders of code that is not the user's."""


class Prepare(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Import torch, which takes seconds that are not the model's."""

    path: tuple[str, ...]
    """Folders to import from, before the process's own ``sys.path``."""


class Trace(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Make the model and run it once."""

    options: Options
    mode: Mode
    timeout: float
    """Seconds."""
    memory: float
    """GB beyond what the process has."""


class Render(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Draw a graph."""

    graph: bytes
    view: View


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Torch is there."""


class Traced(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A pass was recorded; where the forward raised, up to there."""

    graph: bytes
    sources: tuple[str, ...]
    """Absolute paths of the user's files that the pass used."""
    libraries: tuple[str, ...] = ()
    """Distributions that the model is made of, torch apart."""
    names: dict[str, tuple[str, ...]] = {}
    """Class → shorter names of the very same class."""
    has_twin: bool = False
    """Whether the model's name, but for capitals, is also that of another one beside it."""
    tried: tuple[str, ...] = ()
    """What was tried to find inputs that the author did not give, one line each."""
    loaded: tuple[str, ...] = ()
    """Absolute paths of all the user's files that the process has loaded by now, for whatever model."""
    lasting: Lasting = "nothing"


class Drawn(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The picture of a graph."""

    picture: Picture


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """There is nothing to show, and why."""

    problem: Problem
    sources: tuple[str, ...] = ()
    """Absolute paths of the user's files that were loaded until then."""
    loaded: tuple[str, ...] = ()
    """Absolute paths of all the user's files that the process has loaded by now, for whatever model."""
    lasting: Lasting = "nothing"


Request: TypeAlias = Prepare | Trace | Render
Answer: TypeAlias = Ready | Traced | Drawn | Refused


def send(file: IO[bytes], message: Hello | Request | Answer) -> None:
    """Write one message."""
    content = msgspec.msgpack.encode(message)
    file.write(len(content).to_bytes(_LENGTH) + content)
    file.flush()


def receive(file: IO[bytes], kind: type[T]) -> T:
    """Read one message.

    Raises:
        EOFError: if the other side is gone.
        msgspec.DecodeError: if it is not a message.
    """
    head = file.read(_LENGTH)
    length = int.from_bytes(head) if len(head) == _LENGTH else 0
    if length > _LONGEST:
        raise msgspec.DecodeError(f"expected a message, got {head!r}")
    content = file.read(length)
    if not content:
        raise EOFError
    return msgspec.msgpack.decode(content, type=kind)
