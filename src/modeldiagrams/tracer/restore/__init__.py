"""What a trace leaves as it was, and what it does not.

A trace puts back what tracing itself changed, and the content of

- weights, buffers and gradients, and tensors among the inputs,
- attributes and registries of modules, and containers and objects that these or the inputs hold,
- the random state of torch, Python and numpy,
- torch's own stacks of modes, inference mode and whether gradients are on.

Everything else is as after a plain call of the model: what a forward sets in its classes, in Python modules or for the
whole process (``torch.set_default_dtype``, environment variables) stays. Where that could harm the next model, the
worker process is renewed, see `modeldiagrams.worker.process_state`.

A pass without values must not poison a later one, so its fake tensors also disappear from global variables, and
functions that cache their results get empty caches for each pass, see `leftovers`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.restore.leftovers import fakes_removed
from modeldiagrams.tracer.restore.objects import ObjectSnapshot, attempt
from modeldiagrams.tracer.restore.process_wide import (
    gradient_modes_restored,
    mode_stacks_restored,
    random_state_restored,
)
from modeldiagrams.tracer.restore.tensors import TensorSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.tracer.restore.namespaces import Namespace

__all__ = ["mode_stacks_restored", "restored"]


@contextlib.contextmanager
def restored(model: Any, inputs: Any, namespaces: Sequence[Namespace]) -> Iterator[TensorSnapshot]:
    """Restore, at the end, what the contract above names; the stacks of modes are up to `mode_stacks_restored`.

    Args:
        model: A module, or any callable.
        inputs: Its arguments.
        namespaces: Where to remove fake tensors.

    Yields:
        The snapshot of tensors, to be told before something writes to them.
    """
    objects = ObjectSnapshot(model, inputs)
    tensors = TensorSnapshot(objects.tensors)
    with contextlib.ExitStack() as undo:
        undo.enter_context(gradient_modes_restored())
        undo.callback(attempt, tensors.restore)
        undo.callback(objects.restore)
        undo.enter_context(random_state_restored())
        undo.enter_context(fakes_removed(namespaces))
        yield tensors
