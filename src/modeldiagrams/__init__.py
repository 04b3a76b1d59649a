"""Interactive architecture diagrams of PyTorch models in your documentation, drawn from a recorded forward pass.

Public names are imported on first use, so importing this package is fast and doesn't import torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldiagrams.api.cost import cost
    from modeldiagrams.api.dot import to_dot
    from modeldiagrams.api.export import to_html, to_pdf, to_png, to_svg
    from modeldiagrams.api.mermaid import to_mermaid
    from modeldiagrams.api.networkx import to_networkx
    from modeldiagrams.api.notebook import diagram
    from modeldiagrams.api.notebook_viewer import notebook
    from modeldiagrams.api.pandas import to_pandas
    from modeldiagrams.api.site_catalogue import catalogue
    from modeldiagrams.api.snapshot import snapshot
    from modeldiagrams.api.summary import summary
    from modeldiagrams.engine.compare.difference import Difference, diff
    from modeldiagrams.errors import (
        GraphError,
        ModelDiagramsError,
        OptionError,
        RecordingError,
        RenderError,
        TargetError,
        WorkerError,
    )
    from modeldiagrams.ir.describing.text import describe
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.serialize import load, save
    from modeldiagrams.ir.structure import structural_digest
    from modeldiagrams.options.options import Options
    from modeldiagrams.overlay.annotate import annotate
    from modeldiagrams.overlay.overlay import Overlay
    from modeldiagrams.resolve.own_models import trace
    from modeldiagrams.watching.reader import load_recording
    from modeldiagrams.watching.recorder.watcher import watch
    from modeldiagrams.watching.recording import Recording

    __version__: str

__all__ = [
    "Difference",
    "Graph",
    "GraphError",
    "ModelDiagramsError",
    "OptionError",
    "Options",
    "Overlay",
    "Recording",
    "RecordingError",
    "RenderError",
    "TargetError",
    "WorkerError",
    "__version__",
    "annotate",
    "catalogue",
    "cost",
    "describe",
    "diagram",
    "diff",
    "load",
    "load_recording",
    "notebook",
    "save",
    "snapshot",
    "structural_digest",
    "summary",
    "to_dot",
    "to_html",
    "to_mermaid",
    "to_networkx",
    "to_pandas",
    "to_pdf",
    "to_png",
    "to_svg",
    "trace",
    "watch",
]

_MODULES = {
    "Difference": "engine.compare.difference",
    "Graph": "ir.graph",
    "Options": "options.options",
    "Overlay": "overlay.overlay",
    "annotate": "overlay.annotate",
    "Recording": "watching.recording",
    "catalogue": "api.site_catalogue",
    "cost": "api.cost",
    "describe": "ir.describing.text",
    "diagram": "api.notebook",
    "diff": "engine.compare.difference",
    "load": "ir.serialize",
    "load_recording": "watching.reader",
    "notebook": "api.notebook_viewer",
    "save": "ir.serialize",
    "snapshot": "api.snapshot",
    "structural_digest": "ir.structure",
    "summary": "api.summary",
    "to_dot": "api.dot",
    "to_html": "api.export",
    "to_mermaid": "api.mermaid",
    "to_networkx": "api.networkx",
    "to_pandas": "api.pandas",
    "to_pdf": "api.export",
    "to_png": "api.export",
    "to_svg": "api.export",
    "trace": "resolve.own_models",
    "watch": "watching.recorder.watcher",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _version() if name == "__version__" else _import_name(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]


def _import_name(name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES.get(name, 'errors')}"), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        message = "PyTorch is not installed here: pip install torch. `load` reads graphs traced elsewhere."
        raise _import_name("ModelDiagramsError")(message) from error


def _version() -> str:
    return str(importlib.import_module(f"{__name__}.common.version").read_version())
