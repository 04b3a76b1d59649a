"""Measures parameters, their gradients and updates when an optimizer of torch makes a step.

At that point, gradients are complete (of all micro-batches), unscaled and clipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from modeldiagrams.watching.file.records import Key
from modeldiagrams.watching.recorder.hooks import HookedStep, report_errors
from modeldiagrams.watching.recorder.measurement import get_values, measure, take_sample
from modeldiagrams.watching.recorder.rows import find_scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Tensor, nn

    from modeldiagrams.watching.recorder.names import Names
    from modeldiagrams.watching.recorder.rows import Rows

__all__ = ["Parameters", "list_parameters"]

_MATRIX = 2


def list_parameters(optimizer: torch.optim.Optimizer) -> Iterator[nn.Parameter]:
    """Yield all parameters of an optimizer."""
    for group in optimizer.param_groups:
        yield from group["params"]


class Parameters:
    """Hooks all optimizers to measure the parameters of one model.

    Attributes:
        were_updated: Whether an optimizer has made a step.
        found_inf: From fused optimizers with a gradient scaler: not zero if they skipped the step.
    """

    def __init__(self, step: HookedStep, names: Names, rows: Rows) -> None:
        self.step, self._names, self._rows, self._log = step, names.parameters, rows, step.log
        self._before: dict[int, Tensor] = {}
        self._measured: set[int] = set()
        self.were_updated = False
        self.found_inf: list[Tensor] = []
        self._handles = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
        ]

    def remove(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()
        self._before.clear()

    def measure_unstepped(self, model: nn.Module, optimizers: Iterable[torch.optim.Optimizer]) -> None:
        """Measure parameters that no optimizer of torch used, for example because a gradient scaler skipped the step.

        Args:
            model: The watched model.
            optimizers: All that ever made a step. If one did so in this step, parameters of the others are left out.
        """
        waiting = {id(p) for each in optimizers for p in list_parameters(each)} if self.were_updated else set()
        left = [p for p in model.parameters() if id(p) not in self._measured | waiting]
        self._measure(left, scaled=False)

    def _own(self, parameters: Iterable[nn.Parameter]) -> Iterator[tuple[str, str, nn.Parameter]]:
        for parameter in parameters:
            if id(parameter) in self._names:
                yield (*self._names[id(parameter)], parameter)

    @report_errors
    def _before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:  # noqa: ARG002
        # fused optimizers unscale gradients themselves, so these are still scaled
        self._measure(list_parameters(optimizer), scaled=getattr(optimizer, "grad_scale", None) is not None)

    def _measure(self, parameters: Iterable[nn.Parameter], *, scaled: bool) -> None:
        for path, name, parameter in self._own(parameters):
            if id(parameter) in self._measured:  # only the first of several optimizer steps counts
                continue
            self._measured.add(id(parameter))
            if "parameters" in self._log:
                row = self._rows.add(Key(path, "parameter", name), parameter, scope="copy")
                if row is not None and "updates" in self._log and parameter.dtype != torch.float64:
                    self._before[id(parameter)] = row.sample
            values = get_values(parameter)
            if "updates" in self._log and id(parameter) not in self._before and values is not None:
                self._before[id(parameter)] = self._exact(values)
            if "gradients" in self._log and parameter.grad is not None and parameter.requires_grad:
                self._rows.add(Key(path, "parameter_gradient", name), parameter.grad, scope="copy", scaled=scaled)

    def _exact(self, values: Tensor) -> Tensor:
        """Take a sample with enough bits to compute small differences of large values."""
        dtype = torch.promote_types(values.dtype, torch.float32)
        return take_sample(values, self._rows.sample, self._rows.turn, dtype)

    @report_errors
    @torch.no_grad()
    def _after_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:  # noqa: ARG002
        found_inf = getattr(optimizer, "found_inf", None)
        if found_inf is not None:
            self.found_inf.append(found_inf.clone())
        for path, name, parameter in self._own(list_parameters(optimizer)):
            self.were_updated = True
            before, values = self._before.pop(id(parameter), None), get_values(parameter)
            if before is None or values is None or not parameter.requires_grad:  # intentionally frozen
                continue
            change = self._exact(values) - before
            sample = change.to(torch.float32)
            row = measure(Key(path, "update", name), change, sample, find_scope(parameter, "copy"), None)
            if parameter.dim() >= _MATRIX:  # biases begin at zero, so their ratio says nothing
                norm = torch.linalg.vector_norm(before)
                row.weight_norm = norm.item() if norm.device.type == "cpu" else norm
            self._rows.measured.append(row)
