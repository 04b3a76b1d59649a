"""Which outputs of a notebook carry the viewer: it is large, and one output can bring it for all."""

from __future__ import annotations

import os
import sys
from typing import Literal, NamedTuple

from modeldiagrams.errors import OptionError
from modeldiagrams.html.standalone import build_notebook_viewer

__all__ = ["OUTPUTS", "NotebookViewer", "notebook"]

_LOADED = "This output holds the viewer of the model diagrams in this notebook."


class _Execution(NamedTuple):
    """One run of a cell."""

    cell: str
    """Its id, or its code where the notebook does not tell the id."""
    message: str


def _frames_each_output() -> bool:
    return "google.colab" in sys.modules or "DATABRICKS_RUNTIME_VERSION" in os.environ


def _current() -> _Execution | None:
    """The cell that a Jupyter kernel runs now; None outside of one."""
    ipython = sys.modules.get("IPython")
    parent = getattr(ipython and ipython.get_ipython(), "get_parent", None)
    if parent is None:
        return None
    request = parent()
    cell = request.get("metadata", {}).get("cellId") or request.get("content", {}).get("code", "")
    return _Execution(str(cell), str(request.get("header", {}).get("msg_id", "")))


class Outputs:
    """The outputs of this process's notebook."""

    def __init__(self) -> None:
        self._each = _frames_each_output()
        self._carrier: _Execution | None = None

    def choose(self, *, each: bool) -> None:
        """Have each output carry the viewer, or only that of the cell that runs now."""
        self._each = each
        self._carrier = None

    def viewer_if_needed(self) -> str:
        """The viewer, for an output that is to carry it; otherwise nothing.

        Without a kernel nothing is known of other outputs, so each carries it.
        """
        now = _current()
        if self._each or now is None:
            return build_notebook_viewer()
        before = self._carrier
        # the output that carried it is gone once its cell runs again
        if before is not None and (before.cell != now.cell or before.message == now.message):
            return ""
        self._carrier = now
        return build_notebook_viewer()


OUTPUTS = Outputs()


class NotebookViewer:
    """The viewer as the output of a cell."""

    def _repr_html_(self) -> str:
        return f"<p><small>{_LOADED}</small></p>{OUTPUTS.viewer_if_needed()}"

    def __repr__(self) -> str:
        return f"<{_LOADED}>"


def notebook(viewer: Literal["once", "each"] = "once") -> NotebookViewer | None:
    """Choose which outputs of this notebook contain the viewer, which makes diagrams interactive.

    By default, the first output with a diagram contains it. In Colab and Databricks every output does, because these
    show each output in a frame of its own.

    Args:
        viewer: ``once`` for the output of the cell that calls this as its last expression, ``each`` for every diagram
            that is shown from now on.

    Returns:
        An object that the notebook shows as the viewer; None for ``each``.

    Raises:
        OptionError: for another word.
    """
    if viewer not in {"once", "each"}:
        raise OptionError("viewer", f"expected 'once' or 'each', got {viewer!r}")
    OUTPUTS.choose(each=viewer == "each")
    return NotebookViewer() if viewer == "once" else None
