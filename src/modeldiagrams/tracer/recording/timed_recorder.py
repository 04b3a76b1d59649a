"""A recorder that measures how long ops take, in a pass of its own.

Only the call of torch is measured, on the wall clock: recording happens outside of it, and no dispatch mode is active
inside, because counting FLOPs would make most operators several times slower.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.tracer.recording.counting import suspend_counter
from modeldiagrams.tracer.recording.op_recorder import OpRecorder
from modeldiagrams.tracer.torch_facts.nested_values import tensors_of
from modeldiagrams.tracer.torch_facts.private_api import own_buffers, own_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from torch import Tensor

    from modeldiagrams.tracer.recording.thread_context import ThreadContext
    from modeldiagrams.tracer.torch_facts.flops import CallFormula
    from modeldiagrams.tracer.values.pass_records import CallSite, Invocation, Op, PassRecord
    from modeldiagrams.tracer.values.scopes import Scope
    from modeldiagrams.tracer.values.source_lines import SourceFinder


class TimedRecorder(OpRecorder):
    """Records times instead of FLOPs."""

    def __init__(
        self,
        recording: PassRecord,
        finder: SourceFinder,
        before_write: Callable[[Tensor], None],
        devices: Collection[torch.device] = (),
    ) -> None:
        """Make a recorder that waits for these devices, on which ops run asynchronously."""
        super().__init__(recording, finder, before_write)
        self.times: dict[Op, int | None] = {}
        """Nanoseconds; None for an op that contains other ops."""
        self._devices = devices
        self._n_run = 0

    def add_op(
        self,
        context: ThreadContext,
        site: CallSite,
        scope: Scope | None = None,
        cost: Any = None,
        tensors: Sequence[Tensor] = (),
    ) -> Op:
        """Append an op and keep its time, which takes the place of its cost."""
        op = super().add_op(context, site, scope, None, tensors)
        self.times[op] = cost
        return op

    def run_call(  # noqa: PLR0913, PLR0917 - as `run_and_count`
        self,
        context: ThreadContext,
        counter: Any,
        run: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        formula: CallFormula | None,  # noqa: ARG002
    ) -> tuple[Any, int | None]:
        """Run a call; return its result and its time, or None if calls inside it are ops of their own."""
        n_before = self._n_run
        context.observed += 1
        try:
            with suspend_counter(counter):
                self._wait()
                start = time.perf_counter_ns()
                result = run(*args, **kwargs)
                self._wait()
                nanoseconds = time.perf_counter_ns() - start
        finally:
            context.observed -= 1
        is_alone = n_before == self._n_run
        self._n_run += 1
        return result, nanoseconds if is_alone else None

    def _wait(self) -> None:
        for device in self._devices:
            torch.accelerator.synchronize(device)


def accelerators_of(invocation: Invocation) -> set[torch.device]:
    """Devices of the model and its inputs on which ops run asynchronously."""
    tensors = tensors_of([invocation.args, invocation.kwargs])
    for _, module in invocation.modules:
        tensors += [*own_parameters(module).values(), *own_buffers(module).values()]
    kind = torch.accelerator.current_accelerator()
    return {tensor.device for tensor in tensors if kind is not None and tensor.device.type == kind.type}
