"""A tracker for Accelerate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelerate.tracking import GeneralTracker

from modeldiagrams.watching.recorder.watcher import watch

if TYPE_CHECKING:
    from torch import nn

__all__ = ["AccelerateTracker"]


class AccelerateTracker(GeneralTracker):  # type: ignore[misc]
    """Records a training by Accelerate: ``Accelerator(log_with=AccelerateTracker(model, every=100))``.

    ``accelerator.log({"loss": loss}, step=step)`` ends a step; call it on every process, once for each step of the
    optimizer.
    """

    name = "modeldiagrams"
    requires_logging_directory = False
    main_process_only = False

    def __init__(self, model: nn.Module, **options: Any) -> None:
        """Begin.

        Args:
            model: The model, before or after it was prepared.
            options: Those of `modeldiagrams.watch`.
        """
        super().__init__()
        self.watcher = watch(model, **options)

    @property
    def tracker(self) -> Any:
        """The watcher."""
        return self.watcher

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Nothing is kept of it."""

    def log(self, values: dict[str, Any], step: int | None = None, **others: Any) -> None:  # noqa: ARG002
        """End a step; its loss is the value of that name."""
        self.watcher.step(values.get("loss"))

    def finish(self) -> None:
        """Close the file."""
        self.watcher.close()
