"""An author's patterns → an overlay for one graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.kinds import Kind
from modeldiagrams.ir.nearest import nearest
from modeldiagrams.ir.pictures import as_picture
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.overlay.groups import grouped
from modeldiagrams.overlay.images import image_of
from modeldiagrams.overlay.overlay import Alignment, Arrangement, Node, Note, Overlay

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.overlay import Group, Image

__all__ = ["annotate", "resolve"]

_OF_CONTAINERS = ("arrange", "align_items")
_FLAGS = ("hide", "highlight", "fade")
_VALUES = ("rename", "kind", *_OF_CONTAINERS)
_EXPECTED = {**dict.fromkeys(_FLAGS, "True or False"), "order": "a list of patterns", "rename": "a name"}


def annotate(  # noqa: PLR0913  (the most common options)
    graph: Graph,
    pattern: str,
    *,
    text: str | None = None,
    group: str | None = None,
    image: Any = None,
    alt: str | None = None,
    **more: Any,
) -> Overlay:
    """Annotate nodes, for `to_svg`, `to_html` and other pictures: ``to_svg(graph, overlay=annotate(…))``.

    ``|`` joins several overlays.

    Args:
        graph: The graph with the nodes.
        pattern: Which nodes: a path (``encoder.layers.0``), a class (``Linear``), a function, an op's id or name, and
            ``*`` for anything in them. Several are separated by commas.
        text: A note. It is shown below the picture, with its number at the nodes.
        group: A name: siblings that match become one container of this name.
        image: A picture in the box: a PNG, JPEG or SVG file, its bytes, SVG text, a Matplotlib figure, a PIL image, or
            a table (a pandas `DataFrame`, a dict, or a list of rows). Readers can open it in full size.
        alt: What the image shows, for readers who can't see it.
        **more: Other options of the reference for nodes: `rename`, `kind`, `arrange` and `align_items` with a value,
            `hide`, `highlight` and `fade` with True, and `order` with a list of patterns.

    Returns:
        The overlay.

    Raises:
        OptionError: for an unknown option or value, a pattern that matches nothing, nodes that can't be a group, and an
            image that is in no known format, damaged or too large.
    """
    options = _options_of(pattern, {"notes": text, **more})
    if image is not None:
        options["embed"] = {pattern: _image(image, alt or f"Picture of {pattern}")}
    if group is not None:
        options["group"] = {group: [pattern]}
    overlay, problems = resolve(graph, options)
    if not options:  # a pattern that matches nothing is a mistake all the same
        finder = _Finder(graph)
        finder.of("pattern", pattern)
        problems = finder.problems
    if problems:
        raise problems[0]
    return overlay


def _options_of(pattern: str, given: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name not in (*_FLAGS, *_VALUES, "order", "notes"):
            raise OptionError(
                name, f"unknown here; expected text, image, alt, group, {', '.join((*_VALUES, *_FLAGS, 'order'))}"
            )
        if value is not None and value is not False:
            _check(name, value)
            options[name] = [pattern] if name in _FLAGS else {pattern: value}
    return options


def _image(image: Any, alt: str) -> Image:
    try:
        is_file = isinstance(image, os.PathLike) or (isinstance(image, str) and "<" not in image)
        return image_of(Path(image).read_bytes() if is_file else as_picture(image), alt)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}; expected the path of a PNG, JPEG or SVG file"
        raise OptionError("image", reason) from error
    except (TypeError, ValueError) as error:
        raise OptionError("image", str(error)) from error


msgspec.json.Decoder(tuple[Note, Node])
"""So that their fields are learnt at import, by one thread."""


def _check(name: str, value: object) -> None:
    """Refuse a value that an overlay can't hold."""
    struct, field = (Note, "text") if name == "notes" else (Node, name)
    choices = {"kind": Kind, "arrange": Arrangement, "align_items": Alignment}.get(name)
    expected = ", ".join(get_args(choices)) if choices else _EXPECTED.get(name, "text")
    try:
        msgspec.convert({field: value}, struct)
    except msgspec.ValidationError:
        raise OptionError(field, f"expected {expected}, got {value!r}") from None


def resolve(graph: Graph, options: Mapping[str, Any]) -> tuple[Overlay, list[OptionError]]:
    """Find the nodes that options speak of.

    Args:
        graph: Where to look.
        options: Values of the options of struct `Author`, without those that are not given; `embed` has an `Image` in
            place of the name of each, and `notes` may also be pairs of pattern and text.

    Returns:
        The overlay, and what is wrong with the options; the rest of them holds all the same.
    """
    finder = _Finder(graph)
    groups: tuple[Group, ...] = ()
    if options.get("group"):
        groups, problems = grouped(graph, options["group"], finder.of)
        finder.add_groups(groups, problems)
    said: dict[str, dict[str, Any]] = {}
    for option in _FLAGS:
        finder.note(said, option, dict.fromkeys(options.get(option) or (), True))
    for option in _VALUES:
        finder.note(said, option, options.get(option) or {})
    for pattern, wanted in (options.get("order") or {}).items():
        for container in finder.of("order", pattern, containers=True):
            children = finder.directly_inside(container, wanted)
            said.setdefault(container, {})["order"] = children
    written = options.get("notes") or ()
    pairs = written.items() if isinstance(written, Mapping) else written
    notes = tuple(Note(text=text, nodes=finder.of("notes", at)) for at, text in pairs)
    embedded = {at: finder.of("embed", at) for at in options.get("embed") or ()}
    images = tuple(msgspec.structs.replace(options["embed"][at], nodes=ids) for at, ids in embedded.items() if ids)
    nodes = {name: Node(**said[name]) for name in said}
    overlay = Overlay(graph=structural_digest(graph), nodes=nodes, groups=groups, notes=notes, images=images)
    return overlay, finder.problems


class _Finder:
    """Finds nodes by patterns, and keeps what is wrong with these."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.problems: list[OptionError] = []
        self._groups: dict[str, list[str]] = {}
        self._members: dict[str, tuple[str, ...]] = {}

    def add_groups(self, groups: Iterable[Group], problems: Iterable[OptionError]) -> None:
        """Groups are found by their names from now on."""
        self.problems += problems
        for group in groups:
            self._groups.setdefault(group.name, []).append(group.id)
            self._members[group.id] = group.nodes

    def note(self, said: dict[str, dict[str, Any]], option: str, by_pattern: Mapping[str, Any]) -> None:
        """Enter what an option says of the nodes that its patterns match."""
        for pattern, value in by_pattern.items():
            for name in self.of(option, pattern, containers=option in _OF_CONTAINERS):
                said.setdefault(name, {})[option] = value

    def of(self, option: str, patterns: str, *, containers: bool = False) -> tuple[str, ...]:
        """Ids that match one of several patterns, separated by commas; of none that matches nothing.

        A pattern of containers may also be the class of the model, or its name.
        """
        found: dict[str, None] = {}
        for pattern in self._separate(patterns):
            model = self.graph.model
            ids = self._matching(pattern)
            if not ids and containers and pattern in {model.name, model.class_, short_name(model.class_)}:
                ids = ("",)
            if not ids:
                self.problems.append(
                    OptionError(option, f"nothing matches {pattern!r}; {self._hint(pattern, containers=containers)}")
                )
            found |= dict.fromkeys(ids)
        return tuple(found)

    def _separate(self, patterns: str) -> list[str]:
        """Several patterns, or the one of a name with commas in it."""
        parts = [part.strip() for part in patterns.split(",") if part.strip()]
        return [patterns] if not parts or self._matching(patterns) else parts

    def _matching(self, pattern: str) -> Sequence[str]:
        # functions without a name would match nothing's pattern
        return self._groups.get(pattern) or (self.graph.matching(pattern) if pattern.strip() else ())

    def directly_inside(self, container: str, patterns: Sequence[str]) -> tuple[str, ...]:
        """Ids in a container, in the order of patterns of paths relative to it, classes or names."""
        children = self._members.get(container) or [
            *(node.id for node in self.graph.children(container or None)),
            *(call.id for call in self.graph.functions.values() if (call.parent or "") == container),
            *(group for group in self._members if group.rpartition("/")[0] == container),
        ]
        found: dict[str, None] = {}
        for pattern in patterns:
            matching = {*self._groups.get(pattern, ()), *self.graph.matching(pattern)}
            matching |= {*self.graph.matching(f"{container}.{pattern}"), *self.graph.matching(f"{container}/{pattern}")}
            here = [child for child in children if child in matching]
            if not here:
                text = f"nothing directly in {container or self.graph.model.name} matches {pattern!r}"
                self.problems.append(OptionError("order", f"{text}; {self._hint(pattern)}"))
            found |= dict.fromkeys(here)
        return tuple(found)

    def _hint(self, pattern: str, *, containers: bool = False) -> str:
        paths = (node.path for node in self.graph.nodes if isinstance(node, ModuleNode))
        if containers and any(path.startswith(f"{pattern}.") for path in paths):
            around = pattern.rpartition(".")[0] or short_name(self.graph.model.class_)
            return f"it holds modules but is not called, so it has no box; name the module around it: {around!r}"
        others = (name for names in self.graph.other_names.values() for name in names)
        near = nearest(pattern, [*self.graph.call_names, *others, *self._groups])
        if near:
            return f"did you mean {near!r}?"
        return "write a path (`encoder.layers.0`), a class, the name of an op, or `*` in them"
