"""The exception tree: every error says what was expected, what came instead, and how to mend it."""

from __future__ import annotations

__all__ = [
    "GraphError",
    "ModelDiagramsError",
    "OptionError",
    "RenderError",
    "SettingError",
    "TargetError",
    "WorkerError",
]


class ModelDiagramsError(Exception):
    """Base of every error this package raises on purpose."""


class GraphError(ModelDiagramsError):
    """A graph file or a `Graph` breaks the format.

    Attributes:
        place: Where, as a JSON path (``$.nodes[3].kind``).
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place


class OptionError(ModelDiagramsError):
    """An option is unknown or its value is not of the expected form.

    Attributes:
        option: The option's name as the author wrote it.
    """

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"option {option!r}: {problem}")
        self.option = option


class SettingError(ModelDiagramsError):
    """A site's configuration says something that is not of the expected form.

    Attributes:
        setting: Its name.
    """

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting}: {problem}")
        self.setting = setting


class TargetError(ModelDiagramsError):
    """The model, its constructor arguments or its inputs could not be found or made.

    Attributes:
        frames: Lines of user code on the way to the failure, innermost last, as ``file:line in function``.
    """

    def __init__(self, problem: str, frames: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.frames = frames


class WorkerError(ModelDiagramsError):
    """The tracing process died, hung, or answered something that is not its protocol.

    Attributes:
        frames: Lines of user code it was in, innermost last, as ``file:line in function``.
    """

    def __init__(self, problem: str, frames: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.frames = frames


class RenderError(ModelDiagramsError):
    """A graph could not be laid out or drawn."""
