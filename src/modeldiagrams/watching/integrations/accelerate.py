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

    ``accelerator.log({"loss": loss}, step=step)`` ends a step; call it on every process, once per optimizer step.
    """

    name = "modeldiagrams"
    requires_logging_directory = False
    main_process_only = False

    def __init__(self, model: nn.Module, **options: Any) -> None:
        """Start watching.

        Args:
            model: The model, before or after it was prepared.
            options: The options of `modeldiagrams.watch`.
        """
        super().__init__()
        self.watcher = watch(model, **options)

    @property
    def tracker(self) -> Any:
        """The watcher."""
        return self.watcher

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Do nothing with the configuration."""

    def log(self, values: dict[str, Any], step: int | None = None, **others: Any) -> None:  # noqa: ARG002
        """End a step; the value ``loss`` is its loss."""
        self.watcher.step(values.get("loss"))

    def finish(self) -> None:
        """Close the file."""
        self.watcher.close()
