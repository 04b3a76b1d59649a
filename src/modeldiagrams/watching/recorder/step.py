"""One recorded step: hooks on the model and on optimizers, and what they measure."""

from __future__ import annotations

import contextlib
import threading
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from modeldiagrams.watching.file.records import Key
from modeldiagrams.watching.recorder.copying import copy_to_host
from modeldiagrams.watching.recorder.hooks import Hooks
from modeldiagrams.watching.recorder.parameters import Parameters
from modeldiagrams.watching.recorder.partial_rows import build_partial_rows
from modeldiagrams.watching.recorder.rows import Rows
from modeldiagrams.watching.recorder.running_calls import CallTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from torch import Tensor, nn

    from modeldiagrams.watching.recorder.names import Names
    from modeldiagrams.watching.recorder.ranks import Phases
    from modeldiagrams.watching.recorder.running_calls import RunningCall

__all__ = ["RecordedStep", "WatchSettings"]


class WatchSettings(NamedTuple):
    """Settings of all recorded steps."""

    log: Collection[str]
    sample: int
    scaler: Any
    wanted: Callable[[str, nn.Module], bool] | None
    is_compiled: bool


class RecordedStep:
    """Measures from its creation until `end`.

    Attributes:
        phase: The name of the phase; None to derive training or validation from the model's mode.
        scale: The factor of the gradient scaler, which is divided out.
        was_traced: Whether a pass was traced instead of measured.
    """

    def __init__(self, root: nn.Module, names: Names, settings: WatchSettings, turn: int, *, phase: str | None) -> None:
        self.root, self.log, self._settings, self._turn, self.phase = root, settings.log, settings, turn, phase
        self._names = names
        self._calls: dict[str, CallTracker] = {}
        self._rows: dict[str, Rows] = {}
        self._thread = threading.get_ident()
        self._scale: Tensor | None = None
        self.scale: float | None = None
        self.has_failed = self.was_traced = self._was_left_out = False
        self._undo = contextlib.ExitStack()
        if settings.is_compiled:  # compiled code doesn't run hooks added later
            self._undo.enter_context(torch.compiler.set_stance("force_eager"))
        for module in names.modules.values():
            self._undo.enter_context(_not_compiled(module))
        self._hooks = Hooks(self, names, settings.wanted)
        self._undo.callback(self._hooks.remove)
        self._parameters = None if phase else Parameters(self, names, self._rows_of("train"))
        if self._parameters is not None:
            self._undo.callback(self._parameters.remove)

    # called by hooks

    def current(self) -> tuple[CallTracker, Rows] | None:
        """Return the calls and rows of the current phase; None in other threads, unless they run backward."""
        is_backward = torch._C._current_graph_task_id() != -1  # noqa: SLF001
        if self.has_failed or (threading.get_ident() != self._thread and not is_backward):
            return None
        is_validation = not self.root.training and not torch.is_grad_enabled() and not is_backward
        phase = self.phase or ("validation" if is_validation else "train")
        if phase not in self._calls:
            self._calls[phase] = CallTracker(self._names, self.root)
        return self._calls[phase], self._rows_of(phase)

    def on_gradient(self) -> None:
        """Handle a gradient that reached a module's output."""
        for calls in self._calls.values():
            calls.identify_repeated()
        scale = getattr(self._settings.scaler, "_scale", None)
        if self._scale is None and scale is not None:  # the scaler changes it at the end of the step
            self._scale = scale.detach().to(torch.float32).clone()

    def fail(self, error: Exception) -> None:
        """Give up on this step with a warning, so that an error in measuring doesn't stop the training."""
        self.has_failed = True
        text = f"modeldiagrams.watch could not record a step: {type(error).__name__}: {error}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)

    @torch.no_grad()
    def end(self, extra: Sequence[Tensor], optimizers: Iterable[torch.optim.Optimizer]) -> tuple[Phases, list[float]]:
        """Remove all hooks; return the measurements by phase, and the values of other tensors.

        Args:
            extra: Other tensors, each with one number.
            optimizers: All that ever made a step.
        """
        if self._parameters is not None:
            self._parameters.measure_unstepped(self.root, optimizers)
        self.drop()
        measured = [] if self.has_failed else [row for rows in self._rows.values() for row in rows.measured]
        scale = [] if self._scale is None else [self._scale]
        for row in measured:
            if row.scaled and scale:
                row.sample = row.sample / scale[0].to(row.sample.device)
        found_inf = [] if self._parameters is None else self._parameters.found_inf
        brought, numbers = copy_to_host(measured, [*scale, *found_inf, *extra])
        self.scale = numbers.pop(0) if scale else None
        left_out = [numbers.pop(0) for _ in found_inf]
        self._was_left_out = any(left_out)
        parts = iter(build_partial_rows(measured, brought, self.scale or 1.0))
        found = {phase: [next(parts) for _ in rows.measured] if measured else [] for phase, rows in self._rows.items()}
        return found, numbers

    @property
    def was_updated(self) -> bool:
        """Whether an optimizer made a step."""
        return self._parameters is not None and self._parameters.were_updated and not self._was_left_out

    def edges(self) -> list[tuple[Key, Key]]:
        """Return pairs of outputs with gradients; the second was computed from the first."""
        keys = ([_make_key(places) for places in edge] for edge in self._hooks.edges)
        return [(one, other) for one, other in keys if one is not None and other is not None]

    def unseen(self) -> list[str]:
        """Return modules whose parameters have gradients but whose call was not seen, as with ``module.forward(x)``."""
        measured = self._rows["train"].measured if "train" in self._rows else []
        trained = dict.fromkeys(row.keys[0].node for row in measured if row.keys[0].kind == "parameter_gradient")
        return [path for path in trained if path not in self._hooks.called and self._hooks.is_measured(path)]

    def drop(self) -> None:
        """Remove all hooks from the model and optimizers."""
        self._undo.close()
        for rows in self._rows.values():
            rows.release()

    def _rows_of(self, phase: str) -> Rows:
        if phase not in self._rows:
            self._rows[phase] = Rows(self._settings.sample, self._turn)
        return self._rows[phase]


def _make_key(places: Sequence[tuple[RunningCall, str]]) -> Key | None:
    """Return the key of a tensor's gradient by the first call that returned it, as in rows."""
    return next((Key(call.id, "gradient", name) for call, name in places if call.id is not None), None)


@contextlib.contextmanager
def _not_compiled(module: nn.Module) -> Iterator[None]:
    """Bypass `module.compile()`, whose compiled code calls the unpatched function."""
    attributes = vars(module)
    compiled = attributes.get("_compiled_call_impl")
    if compiled is not None:
        attributes["_compiled_call_impl"] = None
    yield
    if compiled is not None and attributes["_compiled_call_impl"] is None:
        attributes["_compiled_call_impl"] = compiled
