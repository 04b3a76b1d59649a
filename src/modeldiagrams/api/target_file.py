"""Turns ``models/net.py:Net`` into a dotted path and the folder to import it from."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modeldiagrams.errors import TargetError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["import_path"]


def import_path(target: str, folder: Path) -> tuple[str, list[Path]]:
    """Turn a target that names a Python file into an importable one.

    Args:
        target: A dotted path, or a file, a colon, and a name in it.
        folder: The current folder, from which modules can be imported.

    Returns:
        The dotted path with a colon, and the folders to import from. As in Python, a file is imported from the first
        folder above it that is not a package.

    Raises:
        TargetError: if the file doesn't exist or can't be imported, or if no name in it is given.
    """
    path, _, name = target.rpartition(":") if ".py:" in target else (target, "", "")
    if not path.endswith(".py"):
        return target, [folder]
    file = folder / path
    if not file.is_file():
        raise TargetError(f"there is no file {path}")
    if not name:
        raise TargetError(f"expected a name in the file, such as `{path}:{_find_class(file)}`, got {target!r}")
    file = file.resolve()
    root = file.parent
    while (root / "__init__.py").is_file() and root.name.isidentifier() and root.parent != root:
        root = root.parent
    parts = file.relative_to(root).with_suffix("").parts
    if not all(part.isidentifier() for part in parts):
        raise TargetError(
            f"{path} can't be imported, because {parts[-1]!r} is not a valid Python name; rename the file"
        )
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return f"{module}:{name}", [*dict.fromkeys([root, folder])]


def _find_class(file: Path) -> str:
    """Find the last class in a file that looks like a model, without running it; the whole model usually comes last."""
    try:
        found = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return "Net"
    classes = [one for one in found if isinstance(one, ast.ClassDef) and one.bases]
    modules = [one for one in classes if any(ast.unparse(base).endswith("Module") for base in one.bases)]
    return (modules or classes)[-1].name if classes else "Net"
