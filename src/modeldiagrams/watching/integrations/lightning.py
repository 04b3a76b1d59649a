"""A callback for Lightning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from lightning.pytorch.callbacks import Callback
except ModuleNotFoundError:  # the package's other name
    from pytorch_lightning.callbacks import Callback

from modeldiagrams.watching.recorder.watcher import watch

if TYPE_CHECKING:
    from modeldiagrams.watching.recorder.watcher import Watcher

__all__ = ["LightningCallback"]


class LightningCallback(Callback):  # type: ignore[misc]
    """Records a training by Lightning: ``Trainer(callbacks=[LightningCallback(every=100)])``."""

    def __init__(self, **options: Any) -> None:
        """Remember the options.

        Args:
            options: The options of `modeldiagrams.watch`.
        """
        self._options = options
        self._watcher: Watcher | None = None
        self._step = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Start watching, at the step where a checkpoint resumes."""
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        self._step = trainer.global_step
        options = {"scaler": scaler, "start": self._step, **self._options}
        self._watcher = watch(pl_module, **options)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """End a step if the optimizer made one, so not after every micro-batch."""
        if self._watcher is not None and trainer.global_step > self._step:
            self._step = trainer.global_step
            self._watcher.step(outputs["loss"] if isinstance(outputs, dict) else outputs)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        """Close the file."""
        self._close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002
        """Close the file."""
        self._close()

    def _close(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
        self._watcher = None
