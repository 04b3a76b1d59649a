"""A callback for the transformers Trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from modeldiagrams.watching.recorder.watcher import watch

if TYPE_CHECKING:
    from modeldiagrams.watching.recorder.watcher import Watcher

__all__ = ["TransformersCallback"]


class TransformersCallback(TrainerCallback):  # type: ignore[misc]
    """Records a training by transformers: ``Trainer(callbacks=[TransformersCallback(every=100)])``."""

    def __init__(self, **options: Any) -> None:
        """Remember the options.

        Args:
            options: The options of `modeldiagrams.watch`.
        """
        self._options = options
        self._watcher: Watcher | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **others: Any) -> None:  # noqa: ARG002
        """Start watching, at the step where a checkpoint resumes."""
        self._watcher = watch(model, **{"start": state.global_step, **self._options})

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:  # noqa: ARG002
        """End an optimizer step, after all its micro-batches."""
        if self._watcher is not None:
            self._watcher.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:  # noqa: ARG002
        """Close the file."""
        if self._watcher is not None:
            self._watcher.close()
        self._watcher = None
