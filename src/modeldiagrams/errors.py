"""The exceptions. Each message says what was expected, what was given, and how to fix it."""

from __future__ import annotations

__all__ = [
    "GraphError",
    "ModelDiagramsError",
    "OptionError",
    "RecordingError",
    "RenderError",
    "SettingError",
    "TargetError",
    "WorkerError",
]


class ModelDiagramsError(Exception):
    """The base class of all errors this package raises on purpose."""


class GraphError(ModelDiagramsError):
    """A graph file or a `Graph` breaks the format.

    Attributes:
        path: The JSON path of the first problem (``$.nodes[3].kind``), after the name of a graph file.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


class OptionError(ModelDiagramsError):
    """An option is unknown or has an invalid value.

    Attributes:
        option: The option's name, as the author wrote it.
    """

    def __init__(self, option: str, problem: str) -> None:
        # repr makes line breaks visible
        super().__init__(f"option `{repr(option)[1:-1]}`: {problem}")
        self.option = option


class RecordingError(ModelDiagramsError):
    """A file is not a recording of a training, or can't be read."""


class SettingError(ModelDiagramsError):
    """A setting in a site's configuration is unknown or has an invalid value.

    Attributes:
        setting: The setting's name.
    """

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting}: {problem}")
        self.setting = setting


class TargetError(ModelDiagramsError):
    """The model, its constructor arguments or its inputs could not be found or built.

    Attributes:
        frames: The frames of user code in the traceback, innermost last, as ``file:line in function``.
    """

    def __init__(self, problem: str, frames: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.frames = frames


class WorkerError(ModelDiagramsError):
    """The tracing process died, hung, or broke its protocol.

    Attributes:
        frames: The frames of user code it was in, innermost last, as ``file:line in function``.
        printed: The last lines of its output.
    """

    def __init__(self, problem: str, frames: tuple[str, ...] = (), printed: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.frames = frames
        self.printed = printed


class RenderError(ModelDiagramsError):
    """A graph could not be laid out or drawn."""
