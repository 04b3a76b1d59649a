"""One recorded step: everything that is on the model and on optimizers meanwhile."""

from __future__ import annotations

import contextlib
import threading
import warnings
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.watching.file.records import Key
from modeldiagrams.watching.recorder.calls import Calls
from modeldiagrams.watching.recorder.copying import copied
from modeldiagrams.watching.recorder.hooks import Hooks
from modeldiagrams.watching.recorder.parameters import Parameters
from modeldiagrams.watching.recorder.parts import parts_of
from modeldiagrams.watching.recorder.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from torch import Tensor, nn

    from modeldiagrams.watching.recorder.calls import Call
    from modeldiagrams.watching.recorder.names import Names
    from modeldiagrams.watching.recorder.ranks import Phases

__all__ = ["RecordedStep", "Settings"]


class Settings:
    """What stays the same in all recorded steps."""

    def __init__(
        self,
        log: Collection[str],
        sample: int,
        scaler: Any,
        wanted: Callable[[str, nn.Module], bool] | None,
        *,
        is_compiled: bool,
    ) -> None:
        self.log, self.sample, self.scaler, self.wanted, self.is_compiled = log, sample, scaler, wanted, is_compiled


class RecordedStep:
    """Measures from its making until `end`.

    Attributes:
        phase: Name of what runs; None to tell training and validation from the model's mode.
        scale: What gradients were divided by.
        was_traced: Whether a pass made a graph, and was not measured.
    """

    def __init__(self, root: nn.Module, names: Names, settings: Settings, turn: int, *, phase: str | None) -> None:
        self.root, self.log, self._settings, self._turn, self.phase = root, settings.log, settings, turn, phase
        self._names = names
        self._calls: dict[str, Calls] = {}
        self._rows: dict[str, Rows] = {}
        self._thread = threading.get_ident()
        self._scale: Tensor | None = None
        self.scale: float | None = None
        self.has_failed = self.was_traced = self._was_left_out = False
        self._undo = contextlib.ExitStack()
        if settings.is_compiled:  # hooks that come after the compilation never run
            self._undo.enter_context(torch.compiler.set_stance("force_eager"))
        for module in names.modules.values():
            self._undo.enter_context(_not_compiled(module))
        self._hooks = Hooks(self, names, settings.wanted)
        self._undo.callback(self._hooks.remove)
        self._parameters = None if phase else Parameters(self, names, self._rows_of("train"))
        if self._parameters is not None:
            self._undo.callback(self._parameters.remove)

    # what hooks ask

    def current(self) -> tuple[Calls, Rows] | None:
        """Calls and rows of the phase that is running; None in another thread, unless backward runs there."""
        is_backward = torch._C._current_graph_task_id() != -1  # noqa: SLF001
        if self.has_failed or (threading.get_ident() != self._thread and not is_backward):
            return None
        is_validation = not self.root.training and not torch.is_grad_enabled() and not is_backward
        phase = self.phase or ("validation" if is_validation else "train")
        if phase not in self._calls:
            self._calls[phase] = Calls(self._names, self.root)
        return self._calls[phase], self._rows_of(phase)

    def gradient_arrived(self) -> None:
        """A gradient reached a module's output."""
        for calls in self._calls.values():
            calls.gradient_arrived()
        scale = getattr(self._settings.scaler, "_scale", None)
        if self._scale is None and scale is not None:  # before the scaler changes it, at the end of the step
            self._scale = scale.detach().to(torch.float32).clone()

    def fail(self, error: Exception) -> None:
        """Give up on this step: whatever went wrong in measuring, training goes on."""
        self.has_failed = True
        text = f"modeldiagrams.watch could not record a step: {type(error).__name__}: {error}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)

    # its end

    @torch.no_grad()
    def end(self, extra: Sequence[Tensor], optimizers: Iterable[torch.optim.Optimizer]) -> tuple[Phases, list[float]]:
        """What was measured, by phase; and the values of other tensors. Nothing is left on model and optimizers.

        Args:
            extra: Other tensors, of one number each.
            optimizers: Those that made a step at any time.
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
        brought, numbers = copied(measured, [*scale, *found_inf, *extra])
        self.scale = numbers.pop(0) if scale else None
        left_out = [numbers.pop(0) for _ in found_inf]
        self._was_left_out = any(left_out)
        parts = iter(parts_of(measured, brought, self.scale or 1.0))
        found = {phase: [next(parts) for _ in rows.measured] if measured else [] for phase, rows in self._rows.items()}
        return found, numbers

    @property
    def was_updated(self) -> bool:
        """Whether an optimizer made a step."""
        return self._parameters is not None and self._parameters.were_updated and not self._was_left_out

    def edges(self) -> list[tuple[Key, Key]]:
        """Which outputs with gradients were computed from which."""
        keys = ([_key_of(places) for places in edge] for edge in self._hooks.edges)
        return [(one, other) for one, other in keys if one is not None and other is not None]

    def unseen(self) -> list[str]:
        """Modules whose parameters have gradients, but whose call no hook saw, as of ``module.forward(x)``."""
        measured = self._rows["train"].measured if "train" in self._rows else []
        trained = dict.fromkeys(row.keys[0].node for row in measured if row.keys[0].kind == "parameter_gradient")
        return [path for path in trained if path not in self._hooks.called and self._hooks.hooks(path)]

    def drop(self) -> None:
        """Leave model and optimizers as they were."""
        self._undo.close()
        for rows in self._rows.values():
            rows.release()

    def _rows_of(self, phase: str) -> Rows:
        if phase not in self._rows:
            self._rows[phase] = Rows(self._settings.sample, self._turn)
        return self._rows[phase]


def _key_of(places: Sequence[tuple[Call, str]]) -> Key | None:
    """The key of a tensor's gradient: by the first of its places, as in rows."""
    return next((Key(call.id, "gradient", name) for call, name in places if call.id is not None), None)


@contextlib.contextmanager
def _not_compiled(module: nn.Module) -> Iterator[None]:
    """Without what `module.compile()` made, which calls what there was before."""
    own = vars(module)
    compiled = own.get("_compiled_call_impl")
    if compiled is not None:
        own["_compiled_call_impl"] = None
    yield
    if compiled is not None and own["_compiled_call_impl"] is None:
        own["_compiled_call_impl"] = compiled
