"""Chooses which outputs of a notebook contain the viewer: it is large, and one output is enough for all."""

from __future__ import annotations

import os
import sys
from typing import Literal, NamedTuple

from modeldiagrams.errors import OptionError
from modeldiagrams.html.standalone import build_notebook_viewer

__all__ = ["OUTPUTS", "NotebookViewer", "notebook"]

_LOADED = "This output contains the viewer of the model diagrams in this notebook."


class _Execution(NamedTuple):
    """One run of a cell."""

    cell: str
    """Its id, or its code if the notebook provides no id."""
    message: str


def _frames_each_output() -> bool:
    return "google.colab" in sys.modules or "DATABRICKS_RUNTIME_VERSION" in os.environ


def _current() -> _Execution | None:
    """Return the cell that a Jupyter kernel is running; None outside a kernel."""
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
        """Choose whether each output contains the viewer, or only that of the current cell."""
        self._each = each
        self._carrier = None

    def viewer_if_needed(self) -> str:
        """Return the viewer if the current output should contain it, or else "".

        Without a kernel, nothing is known of other outputs, so each contains it.
        """
        now = _current()
        if self._each or now is None:
            return build_notebook_viewer()
        before = self._carrier
        # when the cell that contained it runs again, its output is replaced
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

    By default, the first output with a diagram contains it. In Colab and Databricks every output does, because they
    show each output in its own frame.

    Args:
        viewer: ``once`` for the output of the cell that calls this as its last expression, ``each`` for every diagram
            shown from now on.

    Returns:
        An object that the notebook shows as the viewer; None for ``each``.

    Raises:
        OptionError: for any other value.
    """
    if viewer not in {"once", "each"}:
        raise OptionError("viewer", f"expected 'once' or 'each', got {viewer!r}")
    OUTPUTS.choose(each=viewer == "each")
    return NotebookViewer() if viewer == "once" else None
