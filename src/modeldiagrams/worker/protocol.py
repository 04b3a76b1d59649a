"""The messages between the documentation process and its worker.

A message is a mark, its length, and its content in MessagePack. (JSON would turn the integer keys that example inputs
may have into text.) Graphs travel inside as the JSON text that `serialize` writes.
"""

from io import BufferedIOBase
from typing import IO, Literal, TypeAlias, TypeVar

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.ir.text import escape_surrogates
from modeldiagrams.options.options import Call, Limits, View, get_package
from modeldiagrams.render.draw import Beside, Picture, Theme
from modeldiagrams.render.picture_file import FileForm, PictureFile

__all__ = [
    "NO_TORCH",
    "Answer",
    "Drawn",
    "DrawnCard",
    "DrawnFile",
    "FindDifference",
    "FoundDifference",
    "Hello",
    "Kind",
    "ListModels",
    "ListedModels",
    "ModelAnswer",
    "ModelRequest",
    "Prepare",
    "Problem",
    "Ready",
    "Refused",
    "Render",
    "RenderCard",
    "RenderFile",
    "RenderImage",
    "Request",
    "TraceRequest",
    "Traced",
    "decode",
    "encode",
    "receive",
    "send",
]

NO_TORCH = (
    "PyTorch is not installed in the environment that runs the models: install it there, name another interpreter"
    " (option `python`), or commit the graphs (`modeldiagrams snapshot`)"
)

_MARK = b"\x93message"
"""Tells a message from what an interpreter prints when it starts, or a model writes to files that it did not open."""
_LENGTH = 8
"""The number of bytes for the length."""

T = TypeVar("T")

Kind: TypeAlias = Literal[
    "model", "inputs", "forward", "graph-file", "snapshot", "option", "worker", "render", "difference"
]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no diagram, or only a part of it."""

    kind: Kind
    message: str
    """One or more lines; the first is a complete sentence."""
    frames: tuple[str, ...] = ()
    """Frames of user code, innermost last, as ``file:line in function``."""
    printed: tuple[str, ...] = ()
    """The last output of a model that died, for authors but not readers."""
    remark: str = ""
    """More text for authors."""


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The process's first message, before any request."""

    version: str
    """The version of modeldiagrams in that process."""
    libraries: tuple[str, ...]
    """The process's `list_library_folders`."""


class Prepare(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Import torch, which doesn't count towards the model's time."""

    path: tuple[str, ...]
    """Folders to import from, before the process's own ``sys.path``."""


class TraceRequest(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Make the model and run it once."""

    call: Call
    limits: Limits
    path: tuple[str, ...] = ()
    """As in `Prepare`, which comes before it."""

    @property
    def doing(self) -> str:
        """The subject of messages about this request."""
        return f"tracing {self.call.model}"

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that have the model."""
        return (get_package(self.call.model),)


class ListModels(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Import packages, and list the names of their models."""

    of: tuple[str, ...]
    """What an author names: packages, modules, objects, and patterns of names."""
    exclude: tuple[str, ...]
    """Patterns of names to leave out."""
    limits: Limits
    path: tuple[str, ...] = ()
    """As in `Prepare`, which comes before it."""

    @property
    def doing(self) -> str:
        """The subject of messages about this request."""
        return f"listing the models of {', '.join(self.of)}"

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that have the models."""
        return tuple(dict.fromkeys(map(get_package, self.of)))


class Render(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Draw a graph for a page."""

    graph: bytes
    view: View
    beside: Beside | None = None
    """Content of the picture in addition to the graph."""


class RenderCard(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Draw a graph for a list of models."""

    graph: bytes


class RenderFile(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Draw a graph as a picture file."""

    graph: bytes
    view: View
    form: FileForm
    theme: Theme
    beside: Beside | None = None


class RenderImage(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Convert an author's SVG to another format."""

    svg: str
    width: float
    height: float
    form: FileForm


class FindDifference(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Find what changed between two graphs."""

    before: bytes
    after: bytes


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Torch is imported."""


class _OfModel(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a model's process, with or without a graph."""

    sources: tuple[str, ...] = ()
    """Absolute paths of the user's files that the pass used, or that were loaded until it failed."""
    output: str = ""
    """The end of what the model printed."""
    imported: tuple[str, ...] = ()
    """Library modules that the import of the model's package loaded, if it took long and did nothing else."""
    may_differ: bool = False
    """Whether another try may end differently with equal sources, after a limit, a signal, a file or a connection."""


class Traced(_OfModel, frozen=True, kw_only=True, tag=True):
    """A recorded pass, up to the error if the forward raised."""

    graph: bytes
    libraries: tuple[str, ...] = ()
    """Distributions that the model uses, except torch."""
    names: dict[str, tuple[str, ...]] = {}
    """Shorter names of classes."""
    name: str | None = None
    """The shortest name of the class that the request's path names; None for a factory."""
    has_case_variant: bool = False
    """Whether another object has a name that differs only in case."""
    tried: tuple[str, ...] = ()
    """The passes of the search for inputs, one line each."""


class ListedModels(_OfModel, frozen=True, kw_only=True, tag=True):
    """Names of models."""

    names: tuple[str, ...]
    """Sorted, and one for each model."""
    problems: tuple[str, ...] = ()
    """What names nothing, one sentence each."""
    libraries: tuple[str, ...] = ()
    """Distributions that the packages use, except torch."""


class Drawn(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The picture of a graph."""

    picture: Picture


class DrawnCard(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The small picture of a graph."""

    svg: str


class DrawnFile(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A graph as a picture file."""

    file: PictureFile


class FoundDifference(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What changed, as JSON text."""

    difference: str


class Refused(_OfModel, frozen=True, kw_only=True, tag=True):
    """A refusal: there is nothing to show."""

    problem: Problem


ModelRequest: TypeAlias = TraceRequest | ListModels
ModelAnswer: TypeAlias = Traced | ListedModels | Refused
Request: TypeAlias = Prepare | ModelRequest | Render | RenderCard | RenderFile | RenderImage | FindDifference
Answer: TypeAlias = Ready | ModelAnswer | Drawn | DrawnCard | DrawnFile | FoundDifference


def encode(message: msgspec.Struct) -> bytes:
    """Return a message's content."""
    try:
        return msgspec.msgpack.encode(message)
    except UnicodeEncodeError:  # names, paths and messages are the model's
        return msgspec.msgpack.encode(escape_surrogates(msgspec.to_builtins(message, builtin_types=[bytes])))


def decode(content: bytes, kind: type[T]) -> T:
    """Return the message with this content.

    Raises:
        msgspec.DecodeError: if it is not a message.
    """
    try:
        return msgspec.msgpack.decode(content, type=decodable(kind))
    except (UnicodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error


def send(file: IO[bytes] | BufferedIOBase, message: Hello | Request | Answer) -> None:
    """Write one message."""
    content = encode(message)
    file.write(_MARK + len(content).to_bytes(_LENGTH) + content)
    file.flush()


def receive(file: IO[bytes] | BufferedIOBase, kind: type[T]) -> T:
    """Read one message.

    Raises:
        EOFError: if the other side is gone.
        msgspec.DecodeError: if it is not a message.
    """
    head = file.read(len(_MARK) + _LENGTH)
    if not _MARK.startswith(head[: len(_MARK)]):
        raise msgspec.DecodeError(f"expected a message, got {head!r}, which something else wrote")
    length = int.from_bytes(head.removeprefix(_MARK))
    content = file.read(length)
    if not content or len(content) < length:
        raise EOFError
    return decode(content, kind)
