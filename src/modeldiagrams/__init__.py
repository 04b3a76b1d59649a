"""Architecture diagrams of PyTorch models that live in documentation and stay true.

Names are imported when they are first used: importing this package imports neither torch nor anything slow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldiagrams.errors import (
        GraphError,
        ModelDiagramsError,
        OptionError,
        RenderError,
        TargetError,
        WorkerError,
    )
    from modeldiagrams.export import to_html, to_pdf, to_png, to_svg
    from modeldiagrams.graph import Graph
    from modeldiagrams.notebook import diagram
    from modeldiagrams.options import Options
    from modeldiagrams.serialize import load, save
    from modeldiagrams.tracer import trace

    __version__: str

__all__ = [
    "Graph",
    "GraphError",
    "ModelDiagramsError",
    "OptionError",
    "Options",
    "RenderError",
    "TargetError",
    "WorkerError",
    "__version__",
    "diagram",
    "load",
    "save",
    "to_html",
    "to_pdf",
    "to_png",
    "to_svg",
    "trace",
]

_HOMES = {
    "Graph": "graph",
    "Options": "options",
    "diagram": "notebook",
    "load": "serialize",
    "save": "serialize",
    "to_html": "export",
    "to_pdf": "export",
    "to_png": "export",
    "to_svg": "export",
    "trace": "tracer",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _version() if name == "__version__" else _imported(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _imported(name: str) -> Any:
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)


def _version() -> str:
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version(__name__))
    except metadata.PackageNotFoundError:
        return "0+unknown"  # run from a checkout that is not installed
