"""Tensors made of numpy's arrays and of other libraries': torch shows them to no mode."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.tracer.internals import unseen_by_modes
from modeldiagrams.tracer.provenance import spec_of
from modeldiagrams.tracer.recording import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    from modeldiagrams.tracer.recorder import Recorder

__all__ = ["imports_shown"]

_IMPORTS = {"from_numpy": "ndarray", "frombuffer": "buffer", "from_dlpack": "ext_tensor"}
"""Functions of torch, and what they call their argument."""
_OWN_FRAMES = 3
"""`_record` and who calls it are this package's, seen from `SourceFinder.here`."""


@contextlib.contextmanager
def imports_shown(recorder: Recorder) -> Iterator[None]:
    """Record ``torch.from_numpy`` and its like as ops, and put everything back."""
    originals = {name: getattr(torch, name) for name in _IMPORTS}
    for name, original in originals.items():
        setattr(torch, name, _recording(recorder, name, original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(torch, name, original)


def _recording(recorder: Recorder, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any, **kwargs: Any) -> Any:
        tensor = original(*args, **kwargs)
        if recorder.here.is_in_the_open:
            with unseen_by_modes():
                _record(recorder, name, tensor)
        return tensor

    return made


def _record(recorder: Recorder, name: str, tensor: Tensor) -> None:
    if recorder.provenance.values(tensor):  # a tensor of ours came back as it is
        return
    op = recorder.new_op(Site(f"torch.{name}", name, recorder.finder.here(recorder.here.stack, _OWN_FRAMES)))
    read = recorder.origin_of_stranger(tensor)
    if read is not None:
        value = read.add_output(spec_of(tensor))
        value.inferred = True
        op.feeds.append((_IMPORTS[name], value, "inferred"))
    recorder.output(op, tensor)
