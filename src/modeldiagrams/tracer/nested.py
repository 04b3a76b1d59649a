"""What torch counts and keeps for nested tensors as long as the process runs, and what must not be seen of it."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.internals import no_dispatch_modes, unseen_by_modes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.tracer.recorder import Recorder

__all__ = ["nested_alike", "symbol"]

_RAGGED = re.compile(r"\bj\d+")
_MAKER = "_nt_view_dummy"
_symbols: dict[str, str] = {}
"""Names of ragged sizes: torch's, which count on from tensor to tensor, and those of this trace."""


def symbol(size: Any) -> str:
    """Name of a symbolic size. Ragged ones (``j0``) are counted anew in each trace."""
    return _RAGGED.sub(lambda found: _symbols.setdefault(found[0], f"j{len(_symbols)}"), str(size))


@contextlib.contextmanager
def nested_alike(recorder: Recorder) -> Iterator[None]:
    """Let models with nested tensors look the same in every trace of a process."""
    nested = sys.modules.get("torch.nested._internal.nested_tensor")
    make = getattr(nested, _MAKER, None)
    if nested is None or make is None:
        yield
        return

    def make_out_of_sight() -> Any:
        """The tensor that torch makes for the first nested one and keeps."""
        with recorder.out_of_sight(), no_dispatch_modes(), unseen_by_modes():
            return make()

    before = _symbols.copy()
    _symbols.clear()
    setattr(nested, _MAKER, make_out_of_sight)
    try:
        yield
    finally:
        setattr(nested, _MAKER, make)
        _symbols.clear()
        _symbols.update(before)
