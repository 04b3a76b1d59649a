"""``models/net.py:Net`` → the dotted path and the folder to import it from."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modeldiagrams.errors import TargetError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["import_path"]


def import_path(target: str, folder: Path) -> tuple[str, list[Path]]:
    """Turn a target that names a Python file into one that can be imported.

    Args:
        target: As a person writes it: a dotted path, or a file, a colon, and a name in it.
        folder: The current one; modules in it can be imported.

    Returns:
        The dotted path with a colon, and the folders to import from. As Python does it, a file is imported from the
        first folder above that is no package.

    Raises:
        TargetError: if there is no such file, it can't be imported by its name, or no name in it is given.
    """
    path, _, name = target.rpartition(":") if ".py:" in target else (target, "", "")
    if not path.endswith(".py"):
        return target, [folder]
    file = folder / path
    if not file.is_file():
        raise TargetError(f"there is no file {path}")
    if not name:
        raise TargetError(f"expected a name in the file, such as `{path}:{_class_in(file)}`, got {target!r}")
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


def _class_in(file: Path) -> str:
    """The last class of a file that looks like a model, because files end with the whole; read without running it."""
    try:
        found = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return "Net"
    classes = [one for one in found if isinstance(one, ast.ClassDef) and one.bases]
    modules = [one for one in classes if any(ast.unparse(base).endswith("Module") for base in one.bases)]
    return (modules or classes)[-1].name if classes else "Net"
