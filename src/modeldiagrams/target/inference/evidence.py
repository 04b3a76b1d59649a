"""How the project itself calls a class: in its own file, documentation, examples and tests, which are read, never run.

A call counts if all its arguments can be read: literals, names that are assigned such values, defaults of `argparse`,
arithmetic, classes by name, and calls of classes (``nn.Linear(8, 4)``). Where the object that it makes is called in
turn, and its arguments are ``torch.randn`` and the like, their shapes are example inputs.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.user_files import is_user_file
from modeldiagrams.target.inference.written_values import Unreadable, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CallSite", "call_sites"]

_ROOT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_ENDINGS = {".py", ".md", ".rst", ".ipynb"}
_MOST_FILES = 400
_MOST_BYTES = 300_000
_MOST_FOLDERS = 300
_MOST_PARENTS = 5
_SKIPPED = re.compile(r"^(\.|_build$|build$|dist$|node_modules$|site-packages$|venv$|__pycache__$)")
_TESTS = re.compile(r"(^|/)(tests?|testing)(/|$)|test_|conftest")


@dataclass(frozen=True)
class CallSite:
    """One call of a class or factory that the project contains."""

    place: str
    """``tests/test_model.py:12``."""
    file: str
    """Absolute; a change of it may change the call."""
    kwargs: dict[str, Any]
    """Its arguments by name, as the option `kwargs`."""
    inputs: list[list[Any]] = field(default_factory=list)
    """What the model is called with, as the option `inputs`."""


def call_sites(found: Callable[..., Any]) -> list[CallSite]:
    """Calls of a class or factory in its project, those that show it to readers before those of tests.

    Args:
        found: The class or the function; one of an installed package has none.
    """
    name = getattr(found, "__name__", "")
    try:
        own = Path(inspect.getsourcefile(found) or "")
        signature = inspect.signature(found)
    except (OSError, TypeError, ValueError):
        return []
    if not name or not is_user_file(str(own)):
        return []
    root, is_project = _root(own)
    files = [own, *(file for file in (_files(root) if is_project else _files(own.parent, 1)) if file != own)]
    files.sort(key=lambda file: (bool(_TESTS.search(file.relative_to(root).as_posix())), file != own))
    calls = _Calls(name, found.__module__, signature)
    return [site for file in files for site in calls.of(file, file.relative_to(root).as_posix(), is_own=file == own)]


def _root(own: Path) -> tuple[Path, bool]:
    """The project's folder: the nearest with a file that only projects have, else that of the outermost package.

    Whether there is such a file decides, too: what is below another folder may belong to anybody.
    """
    parents = [*own.parents][:_MOST_PARENTS]
    marked = (folder for folder in parents if any((folder / name).exists() for name in _ROOT_FILES))
    plain = next((folder for folder in parents if not (folder / "__init__.py").exists()), parents[0])
    project = next(marked, None)
    return project or plain, project is not None


def _files(root: Path, folders: int = _MOST_FOLDERS) -> list[Path]:
    found: list[Path] = []
    pending = [root]
    while pending and folders and len(found) < _MOST_FILES:
        folders -= 1
        try:
            inside = sorted(pending.pop(0).iterdir())
        except OSError:
            continue
        shown = [path for path in inside if not _SKIPPED.search(path.name)]
        found += [path for path in shown if path.suffix in _ENDINGS and path.is_file()]
        pending += [path for path in shown if path.is_dir() and not path.is_symlink()]
    return found[:_MOST_FILES]


@dataclass(frozen=True)
class _Calls:
    name: str
    module: str
    signature: inspect.Signature

    def of(self, file: Path, place: str, *, is_own: bool) -> Iterator[CallSite]:
        """Those in one file."""
        try:
            text = file.read_text("utf-8") if file.stat().st_size <= _MOST_BYTES else ""
        except (OSError, UnicodeDecodeError):
            return
        for line, code in _pieces(file, text) if f"{self.name}(" in text else ():
            try:
                tree = ast.parse(code)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            values = Values(tree, self.module, is_own=is_own)
            for node, parameters in _calls(tree):
                if _called(node) == self.name and not values.is_elsewhere(node.func):
                    here = values.without(parameters)
                    kwargs = _bound(node, self.signature, here)
                    if kwargs:
                        yield CallSite(f"{place}:{line + node.lineno}", str(file), kwargs, _inputs(tree, node, here))


def _pieces(file: Path, text: str) -> Iterator[tuple[int, str]]:
    """Line before it, and text, of each piece of Python in a file; docstrings come after the code around them."""
    if file.suffix == ".ipynb":
        try:
            cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        except (ValueError, KeyError, TypeError, RecursionError):  # no notebook
            return
        yield from ((0, cell) for cell in cells)
        return
    if file.suffix == ".py":
        yield 0, text
    yield from _blocks(text)


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Code in prose: blocks after ``>>>``, between fences, or more indented than the text before them."""
    lines = text.splitlines()
    block: list[str] = []
    for number, line in enumerate([*lines, ""]):
        stripped = line.strip()
        if stripped.startswith((">>> ", "... ")):
            block.append(stripped[4:])
        elif block:
            yield number - len(block), "\n".join(block)
            block = []
    for match in re.finditer(r"^( *)```\s*\{?py[^\n]*\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(2)), inspect.cleandoc("\n" + match[2]).rstrip()
    for match in re.finditer(r"^\.\. code(?:-block)?:: +py[^\n]*\n((?:[ \t]+\S[^\n]*\n|\s*\n)+)", text, re.MULTILINE):
        yield text.count("\n", 0, match.start(1)), inspect.cleandoc("\n" + match[1]).rstrip()


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, frozenset[str]]]:
    """Every call, with the parameters of the functions around it: only a run would tell their values."""
    pending: deque[tuple[ast.AST, frozenset[str]]] = deque([(tree, frozenset())])
    while pending:
        node, parameters = pending.popleft()
        if isinstance(node, ast.Call):
            yield node, parameters
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            parameters |= {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        pending.extend((child, parameters) for child in ast.iter_child_nodes(node))


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _bound(node: ast.Call, signature: inspect.Signature, values: Values) -> dict[str, Any] | None:
    """Its arguments by name; None if one can't be read, or is no parameter."""
    try:
        args = [values.read(argument) for argument in node.args]
        kwargs = {keyword.arg or "**": values.read(keyword.value) for keyword in node.keywords}
        bound = signature.bind(*args, **kwargs)
    except (Unreadable, TypeError):
        return None
    kinds = {signature.parameters[name].kind for name in bound.arguments}
    plain = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return dict(bound.arguments) if kinds <= plain else None


def _inputs(tree: ast.AST, made: ast.Call, values: Values) -> list[list[Any]]:
    """Arguments of calls of the name that a call's result is assigned to."""
    names = {
        target.id if isinstance(target, ast.Name) else ""
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and made in ast.walk(node.value)
        for target in node.targets
    }
    found: list[list[Any]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
            try:
                entries = [values.entry(argument) for argument in node.args]
            except Unreadable:
                continue
            if entries not in found and not node.keywords:
                found.append(entries)
    return found
