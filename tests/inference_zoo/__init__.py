"""Models as people write them, to measure and test what is found without any option.

A file's first word is its level: easy, usual, compact (5 to 30 lines, with arguments that no default tells, or several
inputs) or hard (20 to 80 lines, as repositories have them). No rule is tuned on `aside`, which was written without a
look at any; `retired` in a name says that its models once were kept aside.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass

from inference_zoo import aside, projects
from inference_zoo.aside import projects as aside_projects

__all__ = ["LEVELS", "Entry", "entries"]

LEVELS = ("easy", "usual", "compact", "hard")


@dataclass(frozen=True)
class Entry:
    """One model of the zoo."""

    path: str
    """As the option `model`."""
    level: str
    is_aside: bool


def entries() -> list[Entry]:
    """All models, by file and name."""
    packages = ((__path__, __name__, False), (aside.__path__, aside.__name__, True))
    files = [
        (f"{package}.{file.name}", file.name.split("_")[0], is_aside)
        for path, package, is_aside in packages
        for file in pkgutil.iter_modules(path)
        if not file.ispkg
    ]
    files += [
        (f"{package.__name__}.{folder.name}", folder.name.split("_")[0], is_aside)
        for package, is_aside in ((projects, False), (aside_projects, True))
        for folder in pkgutil.iter_modules(package.__path__)
    ]
    return [
        Entry(f"{module}.{name}", level, is_aside)
        for module, level, is_aside in sorted(files)
        for name in sorted(importlib.import_module(module).__all__)
    ]
