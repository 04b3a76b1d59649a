"""`watch` and `Watcher`: follow the steps of a training and record some of them."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from torch import Tensor, nn

from modeldiagrams.common.class_facts import get_full_name
from modeldiagrams.common.globs import compile_globs
from modeldiagrams.errors import OptionError
from modeldiagrams.watching.file.records import Anomaly, FileFrame, Key, Moment, Run
from modeldiagrams.watching.file.writer import Writer
from modeldiagrams.watching.recorder.finite_check import Tripwire
from modeldiagrams.watching.recorder.losses import Losses
from modeldiagrams.watching.recorder.names import Names, unwrap
from modeldiagrams.watching.recorder.partial_rows import merge_partial_rows
from modeldiagrams.watching.recorder.ranks import gather_phases, is_distributed, is_first
from modeldiagrams.watching.recorder.step import RecordedStep, WatchSettings

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Watcher", "watch"]

LOGGED = ("activations", "gradients", "parameters", "updates")
_KNOWN = (*LOGGED, "inputs")
_NEVER = 1 << 62
Modules: TypeAlias = "Callable[[str, nn.Module], bool] | Sequence[str] | None"


def watch(  # noqa: PLR0913 (all by name)
    model: nn.Module,
    *,
    every: int = 100,
    log: Iterable[str] = LOGGED,
    path: str | os.PathLike[str] = "run.mdwatch",
    scaler: Any = None,
    sample: int = 4096,
    modules: Modules = None,
    start: int = 0,
) -> Watcher:
    """Record activations, gradients, parameters and updates of a model while it trains.

    The training is not changed. Outside recorded steps, there are no hooks on the model.

    Args:
        model: The model, also wrapped in `DistributedDataParallel`, FSDP or `torch.compile`.
        every: The interval of recorded steps: 0, `every`, 2 · `every`, …
        log: What to record: ``activations``, ``gradients``, ``parameters``, ``updates``; also ``inputs`` of modules.
        path: The file. An existing recording is continued; its data from step `start` on is replaced.
        scaler: The `torch.amp.GradScaler`; gradients are recorded without its factor.
        sample: The maximum number of values of a tensor in a histogram. Other statistics cover all values.
        modules: The modules to record: patterns of their paths (``["encoder.*"]``), or a function of path and module.
            Parameters of all modules are recorded.
        start: The number of the first step, for a resumed training.

    Returns:
        A watcher. Close it, or use it in a ``with`` statement; call its `step` after each optimizer step.

    Raises:
        OptionError: if an argument is not of the expected form.
        RecordingError: if the file exists and is not a recording.
    """
    _check_arguments(model, every, sample, start)
    settings = WatchSettings(_check_log(log), sample, scaler, _build_filter(modules), _is_compiled(model))
    return Watcher(model, settings, every, path, start)


class Watcher:
    """Records a running training; made by `watch`.

    Attributes:
        n: The number of the current step.
    """

    def __init__(
        self, model: nn.Module, settings: WatchSettings, every: int, path: str | os.PathLike[str], start: int
    ) -> None:
        self.n = start
        self._model, self._settings, self._every = unwrap(model), settings, every
        self._turn = 0
        self._step: RecordedStep | None = None
        self._losses = Losses()
        self._edges: set[tuple[Key, Key]] = set()
        self._writer = Writer(path) if is_first() else None
        self._write(FileFrame(record=self._describe_run()))
        can_repeat = not settings.is_compiled and not is_distributed()
        self._tripwire = Tripwire(self._model, self._report, can_repeat=can_repeat)
        self._begin_if_due()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # __init__ may have failed
            self.close()

    def step(self, loss: float | Tensor | None = None) -> None:
        """End a step: call this after the optimizer step, or where it would have been.

        Args:
            loss: The loss of the step, to be shown with the recorded values.
        """
        if loss is not None:
            self._losses.add(self.n, loss)
        if self._writer is None:  # another process writes, or writing failed
            self._losses.forget()
        if self._step is not None:
            self._end()
        if self._tripwire.is_done:
            self._tripwire.remove()
        self.n += 1
        self._begin_if_due()

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Record what the model does inside the ``with`` block as a phase of its own, even if the step isn't recorded.

        Args:
            name: For example ``validation``.
        """
        is_own = self._step is None
        if is_own:
            self._begin(phase=name)
        step = self._step
        assert step is not None  # noqa: S101 (for types)
        outer, step.phase = step.phase, name
        try:
            yield
        except BaseException:
            if is_own:
                self._drop()
            raise
        finally:
            step.phase = outer
        if is_own:
            self._end()

    def close(self) -> None:
        """Write the remaining data and close the file."""
        self._drop()
        self._tripwire.remove()
        losses = self._losses.take([loss.item() for loss in self._losses.tensors()])
        if losses:
            self._write(FileFrame(losses=losses))
        self._close_file()

    def _begin_if_due(self) -> None:
        if self.n % self._every == 0:
            self._begin()

    def _begin(self, phase: str | None = None) -> None:
        self._turn += 1
        self._step = RecordedStep(self._model, Names(self._model), self._settings, self._turn, phase=phase)

    def _drop(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.drop()

    def _end(self) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        try:
            found, numbers = step.end(self._losses.tensors(), self._tripwire.optimizers)
        except Exception as error:  # noqa: BLE001 (the training must go on)
            step.drop()
            step.fail(error)
            found, numbers = {}, [loss.item() for loss in self._losses.tensors()]
        losses = self._losses.take(numbers)
        try:
            moments = self._build_moments(step, found)
        except Exception as error:  # noqa: BLE001 (the training must go on)
            step.fail(error)
            moments = []
        for moment in moments:
            self._write(FileFrame(record=moment, losses=losses))
            losses = []
        if losses:
            self._write(FileFrame(losses=losses))

    def _build_moments(self, step: RecordedStep, found: Any) -> list[Moment]:
        merged = gather_phases(found)
        moments = [
            Moment(step=self.n, phase=phase, rows=merge_partial_rows(parts))
            for phase, parts in merged.items()
            if parts or phase == "train"
        ]
        for moment in moments:
            if moment.phase == "train":
                moment.skipped = not step.was_updated
                moment.scale = step.scale
                moment.unseen = tuple(step.unseen())
                moment.traced = step.was_traced
                moment.edges = tuple(
                    edge for edge in step.edges() if edge not in self._edges and moment.rows.keys() >= {*edge}
                )
                self._edges.update(moment.edges)
        return moments

    def _report(self, node: str, what: str, tensor: str, text: str) -> None:
        """Write an anomaly: something isn't finite."""
        anomaly = Anomaly(step=self.n, kind="nonfinite", node=node, what=what, tensor=tensor, text=text)
        self._write(FileFrame(record=anomaly))

    def _describe_run(self) -> Run:
        notes = []
        if self._settings.is_compiled:
            notes.append("Compiled code runs without hooks: recorded steps ran without the compiler.")
        if is_distributed():
            notes.append("Gradients of activations are those of each process's own mean loss.")
        modules = {path: get_full_name(type(module)) for path, module in Names(self._model).modules.items() if path}
        log = tuple(sorted(self._settings.log))
        return Run(
            step=self.n,
            model=get_full_name(type(self._model)),
            every=self._every,
            log=log,
            modules=modules,
            notes=tuple(notes),
        )

    def _write(self, frame: FileFrame) -> None:
        """Append to the file; an error, such as a full disk, ends the recording, not the training."""
        if self._writer is None:
            return
        try:
            self._writer.add(frame)
        except Exception as error:  # noqa: BLE001 (the training must go on)
            reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            text = f"modeldiagrams.watch stops recording at step {self.n}: {self._writer.path}: {reason}"
            self._close_file()
            if not is_distributed():  # other processes still wait for the data of this one
                self._every = _NEVER
            warnings.warn(text, RuntimeWarning, stacklevel=3)

    def _close_file(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(OSError):
                self._writer.close()
        self._writer = None


def _check_arguments(model: Any, every: int, sample: int, start: int) -> None:
    if not isinstance(model, nn.Module):
        raise OptionError("model", f"expected a torch.nn.Module, got {type(model).__name__}")
    for name, value, least in (("every", every, 1), ("sample", sample, 1), ("start", start, 0)):
        if not isinstance(value, int) or value < least:
            raise OptionError(name, f"expected a whole number from {least} on, got {value!r}")


def _check_log(log: Iterable[str]) -> frozenset[str]:
    asked = (log,) if isinstance(log, str) else tuple(log)
    for name in asked:
        if name not in _KNOWN:
            raise OptionError("log", f"expected any of {', '.join(_KNOWN)}; got {name!r}")
    return frozenset(asked)


def _build_filter(modules: Modules) -> Callable[[str, nn.Module], bool] | None:
    if modules is None or callable(modules):
        return modules
    matches = compile_globs([modules] if isinstance(modules, str) else modules)
    return lambda path, _: bool(matches(path))


def _is_compiled(model: nn.Module) -> bool:
    return any(hasattr(m, "_orig_mod") or getattr(m, "_compiled_call_impl", None) for m in model.modules())
