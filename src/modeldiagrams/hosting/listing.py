"""Lists the code of a module's `forward`, with the nodes that each line makes."""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.parts import Part, find_diagram, find_part
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.listing import highlight_code, render_listing
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.lineage import Class, Code, read_source
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.source_files import source_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph

__all__ = ["Line", "Listing", "find_forward"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Line(NamedTuple):
    """One line of code."""

    number: int
    text: str
    part: Part | None
    """The nodes that the line made."""


class Listing(NamedTuple):
    """The code of a `forward`."""

    name: str
    """The module's path, or the model's name."""
    anchor: str
    """The anchor of the diagram's figure."""
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """Join the lines."""
        return "\n".join(line.text for line in self.lines)

    @property
    def html(self) -> str:
        """Render the code; its lines are links to their nodes."""
        links = (_build_link(line.part) if line.part else None for line in self.lines)
        return render_listing(highlight_code(self.text), links, f"forward of {self.name}")


def _build_link(part: Part) -> str:
    """Build a link to a line's nodes; without the script, it leads to the picture."""
    return f'href="#{html_text(part.diagram.anchor)}"{f" {part.attributes}" if part.is_live else ""}'


class _Place(NamedTuple):
    """The module whose code is shown."""

    graph: Graph
    path: str
    """"" for the model."""
    id: str | None
    class_: str
    source: str


def find_forward(shown: Sequence[Diagram], target: str) -> Listing:
    """Find the `forward` that a part of a diagram ran.

    Args:
        shown: The page's diagrams up to here, in order.
        target: As for `find_part`; a model's name alone means the model's own `forward`.

    Raises:
        ModelDiagramsError: if the page shows no such part, or its code is missing.
    """
    diagram, place, whole = _find_place(shown, target)
    file, function = _find_method(diagram, place)
    code = Path(file).read_text("utf-8-sig", errors="replace")
    found = _group_by_line(diagram, place, file, function)
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    lines = code.split("\n")[first - 1 : function.end_lineno]
    indent = len(lines[0]) - len(lines[0].lstrip())
    numbered = [
        Line(first + i, _dedent(text, indent), whole._replace(ids=(*found[first + i],)) if first + i in found else None)
        for i, text in enumerate(lines)
    ]
    return Listing(place.path or place.graph.model.name, diagram.anchor, tuple(numbered))


def _parse_file(file: str, source: str) -> ast.Module:
    try:
        return ast.parse(read_source(file))
    except (OSError, SyntaxError, ValueError) as error:
        raise ModelDiagramsError(
            f"expected Python code at {source}, as it was when the model ran, got a file that cannot be read: {error}"
        ) from error


def _dedent(text: str, indent: int) -> str:
    """Remove the first line's indent from a line, as far as the line has it."""
    return text[:indent].lstrip() + text[indent:]


def _find_place(shown: Sequence[Diagram], target: str) -> tuple[Diagram, _Place, Part]:
    whole = find_diagram(shown, target)
    if whole is not None and (all_of_it := whole.diagram.graph):
        model = all_of_it.model
        return whole.diagram, _Place(all_of_it, "", None, model.class_, _require(model.source, model.name)), whole
    part = find_part(shown, target)
    graph = part.diagram.graph
    node = next((node for node in graph.nodes if node.id == part.ids[0]), None) if graph else None
    if graph is None or not isinstance(node, ModuleNode):
        raise ModelDiagramsError(f"expected a module, as only modules have a `forward`, got {target!r}")
    return part.diagram, _Place(graph, node.path, node.id, node.class_, _require(node.source, node.path)), part


def _require(source: str | None, name: str) -> str:
    if source is None:
        raise ModelDiagramsError(f"the graph does not say where the code of {name} is")
    return source


def _find_file(diagram: Diagram, source: str) -> str:
    """Find a source file among those of the trace; the code of libraries is not shown."""
    relative = source.rpartition(":")[0]
    file = source_file(relative, diagram.sources)
    if file is not None:
        return file
    raise ModelDiagramsError(
        f"the code is in {relative}, which is not one of your files or not available: "
        "expected a model that this build traces"
    )


def _find_method(diagram: Diagram, place: _Place) -> tuple[str, _Function]:
    """Find the `forward` that a class defines or inherits, and its file."""
    file = _find_file(diagram, place.source)
    own = _find_class(_parse_file(file, place.source), int(place.source.rpartition(":")[2]))
    classes = [Class(file, own)] if own else []
    for class_ in (*classes, *Code(diagram.sources).lineage(file, short_name(place.class_))):
        function = class_.method("forward")
        if function is not None:
            return class_.file, function
    raise ModelDiagramsError(
        f"expected a `forward` in the class at {place.source}, or in a base class in your own files"
    )


def _find_class(module: ast.Module, line: int) -> ast.ClassDef | None:
    for class_ in ast.walk(module):
        if isinstance(class_, ast.ClassDef) and line in {class_.lineno, *(one.lineno for one in class_.decorator_list)}:
            return class_
    return None


def _group_by_line(diagram: Diagram, place: _Place, file: str, function: _Function) -> dict[int, dict[str, None]]:
    """Group the ids of nodes by the line that made them, in the order of the pass."""
    found: dict[int, dict[str, None]] = {}
    end = function.end_lineno or 0
    is_here = functools.cache(lambda name: source_file(name, diagram.sources) == file)
    for node in place.graph.nodes:
        name, _, line = (node.source or "").rpartition(":") if isinstance(node, OpNode) else ("", "", "")
        is_meant = line.isdigit() and function.lineno <= int(line) <= end and is_here(name)
        if is_meant and (child := _find_child(place, node.id)):
            found.setdefault(int(line), {})[child] = None
    for number, path in _find_named_modules(function):
        for id_ in _find_calls(place, path):
            found.setdefault(number, {})[id_] = None
    return found


def _find_child(place: _Place, id_: str) -> str | None:
    """Return the module's direct child that is or contains a node; None for nodes elsewhere."""
    at: str | None = id_
    while at is not None:
        parent = place.graph.hierarchy[at]
        if parent == place.id:
            return at
        at = parent
    return None


def _find_calls(place: _Place, path: str) -> Iterator[str]:
    """Yield the ids of a module's calls, or of those of the modules in a list."""
    whole = f"{place.path}.{path}" if place.path else path
    for node in place.graph.nodes:
        if isinstance(node, ModuleNode):
            rest = node.path.removeprefix(whole) if node.path.startswith(whole) else None
            if rest is not None and (not rest or (rest[0] == "." and rest[1:].isdigit())):
                yield node.id


def _find_named_modules(function: _Function) -> Iterator[tuple[int, str]]:
    """Yield line and path of every ``self.a.b``, and of every loop variable over its items."""
    names = dict[str, str]()
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            names |= _read_loop_names(node.target, node.iter)
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and (path := _read_path(node)):
            yield node.lineno, path
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            yield node.lineno, names[node.id]


def _read_loop_names(target: ast.expr, source: ast.expr) -> dict[str, str]:
    """``for a, b in zip(self.x, self.y)`` → ``{"a": "x", "b": "y"}``."""
    if isinstance(target, ast.Name):
        path = _read_path(source) if isinstance(source, ast.Attribute) else None
        return {target.id: path} if path else {}
    if not isinstance(target, ast.Tuple) or not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
        return {}
    if source.func.id == "enumerate":
        return _read_loop_names(target.elts[-1], source.args[0]) if source.args else {}
    pairs = zip(target.elts, source.args, strict=False) if source.func.id == "zip" else ()
    return {name: path for one, other in pairs for name, path in _read_loop_names(one, other).items()}


def _read_path(node: ast.expr) -> str | None:
    """``self.a.b`` → ``a.b``."""
    parts = list[str]()
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed(parts)) if isinstance(node, ast.Name) and node.id == "self" else None
