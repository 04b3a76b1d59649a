"""Models as people write them, to measure and test what is found without any option.

A file's first word is its level: easy, usual or hard. `aside` are models that no rule is tuned on;
`retired` in a name says that its models once were such.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass

from inference_zoo import aside, projects

__all__ = ["LEVELS", "Entry", "entries"]

LEVELS = ("easy", "usual", "hard")


@dataclass(frozen=True)
class Entry:
    """One model of the zoo."""

    path: str
    """As the option `model`."""
    level: str
    is_aside: bool


def entries() -> list[Entry]:
    """All models, by file and name."""
    packages = [(__path__, __name__, False), (aside.__path__, aside.__name__, True)]
    files = [
        (f"{package}.{file.name}", file.name.split("_")[0], is_aside)
        for path, package, is_aside in packages
        for file in pkgutil.iter_modules(path)
        if not file.ispkg
    ]
    folders = [folder.name for folder in pkgutil.iter_modules(projects.__path__)]
    files += [(f"{projects.__name__}.{name}", name.split("_")[0], False) for name in folders]
    return [
        Entry(f"{module}.{name}", level, is_aside)
        for module, level, is_aside in sorted(files)
        for name in sorted(importlib.import_module(module).__all__)
    ]
