"""Resolves an author's patterns to an overlay for one graph."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.kinds import Kind
from modeldiagrams.ir.pictures import as_picture
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.samples import SAMPLE
from modeldiagrams.ir.spelling import nearest
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.overlay.groups import make_groups
from modeldiagrams.overlay.image_files import read_image
from modeldiagrams.overlay.number_files import read_numbers
from modeldiagrams.overlay.numbers import NumberMatcher
from modeldiagrams.overlay.overlay import Alignment, Arrangement, Node, Note, Overlay
from modeldiagrams.overlay.sampled_numbers import read_samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.overlay.numbers import GivenNumbers, Numbers
    from modeldiagrams.overlay.overlay import Group, Image

__all__ = ["add_numbers", "annotate", "resolve", "wants_samples"]

_OF_CONTAINERS = ("arrange", "align_items")
_SHOWN = 3
"""Patterns that a message quotes."""
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
    """Annotate nodes for `to_svg`, `to_html` and other pictures: ``to_svg(graph, overlay=annotate(…))``.

    ``|`` merges several overlays.

    Args:
        graph: The graph with the nodes.
        pattern: The nodes to annotate: a path (``encoder.layers.0``), a class (``Linear``), a function, or the id or
            name of an op, with ``*`` for any text. Separate several patterns with commas.
        text: A note. It is shown below the picture, with its number at the nodes.
        group: A name: matching siblings become one container with this name.
        image: A picture in the box: a PNG, JPEG or SVG file, its bytes, SVG text, a Matplotlib figure, a PIL image, or
            a table (a pandas `DataFrame`, a dict, or a list of rows). Readers can open it in full size.
        alt: What the image shows, for readers who can't see it.
        **more: Other options for nodes, see the reference: `rename`, `kind`, `arrange` and `align_items` with a value,
            `hide`, `highlight` and `fade` with True, and `order` with a list of patterns.

    Returns:
        The overlay.

    Raises:
        OptionError: for an unknown option or value, a pattern that matches nothing, nodes that can't be a group, or an
            image that is damaged, too large or of an unknown format.
    """
    options = _collect_options(pattern, {"notes": text, **more})
    if image is not None:
        options["embed"] = {pattern: _read_image(image, alt or f"Picture of {pattern}")}
    if group is not None:
        options["group"] = {group: [pattern]}
    overlay, problems = resolve(graph, options)
    if not options:  # check the pattern anyway
        finder = _NodeFinder(graph)
        finder.find("pattern", pattern)
        problems = finder.problems
    if problems:
        raise problems[0]
    return overlay


def _collect_options(pattern: str, given: dict[str, Any]) -> dict[str, Any]:
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


def _read_image(image: Any, alt: str) -> Image:
    try:
        is_file = isinstance(image, os.PathLike) or (isinstance(image, str) and "<" not in image)
        return read_image(Path(image).read_bytes() if is_file else as_picture(image), alt)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}; expected the path of a PNG, JPEG or SVG file"
        raise OptionError("image", reason) from error
    except (TypeError, ValueError) as error:
        raise OptionError("image", str(error)) from error


msgspec.json.Decoder(tuple[Note, Node])
"""Makes msgspec inspect these types at import, in one thread."""


def _check(name: str, value: object) -> None:
    """Check that an overlay can contain a value."""
    struct, field = (Note, "text") if name == "notes" else (Node, name)
    choices = {"kind": Kind, "arrange": Arrangement, "align_items": Alignment}.get(name)
    expected = ", ".join(get_args(choices)) if choices else _EXPECTED.get(name, "text")
    try:
        msgspec.convert({field: value}, struct)
    except msgspec.ValidationError:
        raise OptionError(field, f"expected {expected}, got {value!r}") from None


def resolve(graph: Graph, options: Mapping[str, Any]) -> tuple[Overlay, list[OptionError]]:
    """Find the nodes that options refer to.

    Args:
        graph: The graph with the nodes.
        options: The given options of the struct `Author`, by name; `embed` has an `Image` instead of the name of each,
            `values` has `GivenNumbers`, and `notes` may also be pairs of pattern and text.

    Returns:
        The overlay, and the problems of options; options without problems apply anyway.
    """
    finder = _NodeFinder(graph)
    groups: tuple[Group, ...] = ()
    if options.get("group"):
        groups, problems = make_groups(graph, options["group"], finder.find)
        finder.add_groups(groups, problems)
    values: dict[str, dict[str, Any]] = {}
    for option in _FLAGS:
        finder.set(values, option, dict.fromkeys(options.get(option) or (), True))
    for option in _VALUES:
        finder.set(values, option, options.get(option) or {})
    for pattern, wanted in (options.get("order") or {}).items():
        for container in finder.find("order", pattern, containers=True):
            children = finder.order_children(container, wanted)
            values.setdefault(container, {})["order"] = children
    written = options.get("notes") or ()
    pairs = written.items() if isinstance(written, Mapping) else written
    notes = tuple(Note(text=text, nodes=finder.find("notes", at)) for at, text in pairs)
    embedded = {at: finder.find("embed", at) for at in options.get("embed") or ()}
    images = tuple(msgspec.structs.replace(options["embed"][at], nodes=ids) for at, ids in embedded.items() if ids)
    nodes = {name: Node(**values[name]) for name in values}
    numbers = finder.match_numbers(options.get("values") or ())
    overlay = Overlay(
        graph=structural_digest(graph), nodes=nodes, groups=groups, notes=notes, images=images, numbers=numbers
    )
    return overlay, finder.problems


def add_numbers(graph: Graph, overlay: Overlay | None, values: Any) -> Overlay | None:
    """Add numbers, as `read_numbers` takes them, to an overlay; warn of those that name no node."""
    if values is None:
        return overlay
    given = [one for source in _as_list(values) for one in _read_values(graph, source)]
    more, problems = resolve(graph, {"values": given})
    for problem in problems:
        warnings.warn(str(problem), stacklevel=3)
    return overlay | more if overlay else more


def wants_samples(values: Any) -> bool:
    """Whether numbers, as `add_numbers` takes them, include what flows."""
    return any(isinstance(one, str) and one == SAMPLE for one in _as_list(values))


def _as_list(values: Any) -> Sequence[Any]:
    return values if isinstance(values, list | tuple) else [values]


def _read_values(graph: Graph, source: Any) -> list[GivenNumbers]:
    return read_samples(graph) if isinstance(source, str) and source == SAMPLE else read_numbers(source)


class _NodeFinder:
    """Finds nodes by patterns, and collects problems."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.problems: list[OptionError] = []
        self._groups: dict[str, list[str]] = {}
        self._members: dict[str, tuple[str, ...]] = {}

    def add_groups(self, groups: Iterable[Group], problems: Iterable[OptionError]) -> None:
        """Make groups available by name."""
        self.problems += problems
        for group in groups:
            self._groups.setdefault(group.name, []).append(group.id)
            self._members[group.id] = group.nodes

    def set(self, values: dict[str, dict[str, Any]], option: str, by_pattern: Mapping[str, Any]) -> None:
        """Enter the values of an option for all nodes that its patterns match."""
        for pattern, value in by_pattern.items():
            for name in self.find(option, pattern, containers=option in _OF_CONTAINERS):
                values.setdefault(name, {})[option] = value

    def find(self, option: str, patterns: str, *, containers: bool = False) -> tuple[str, ...]:
        """Return the ids that match any of several patterns, separated by commas; a pattern without match is a problem.

        A pattern of containers may also be the class of the model, or its name.
        """
        found: dict[str, None] = {}
        for pattern in self._separate(patterns):
            model = self.graph.model
            ids = self._match(pattern)
            if not ids and containers and pattern in {model.name, model.class_, short_name(model.class_)}:
                ids = ("",)
            if not ids:
                self.problems.append(
                    OptionError(option, f"nothing matches {pattern!r}; {self._hint(pattern, containers=containers)}")
                )
            found |= dict.fromkeys(ids)
        return tuple(found)

    def match_numbers(self, given: Iterable[GivenNumbers]) -> tuple[Numbers, ...]:
        """Find the nodes of numbers; those that name none are one problem for each list."""
        matcher = NumberMatcher(self.graph, self._groups) if given else None
        found = tuple(matcher.match(one) for one in given) if matcher else ()
        for one in found:
            if one.unmatched:
                shown = ", ".join(map(repr, one.unmatched[:_SHOWN]))
                count, more = one.unmatched_count, one.unmatched_count - _SHOWN
                text = f"{one.name}: {count} numbers name no node: " if count > 1 else f"{one.name}: no node is named "
                rest = f" and {more} more" if more > 0 else ""
                self.problems.append(OptionError("values", f"{text}{shown}{rest}; {self._hint(one.unmatched[0])}"))
        return found

    def _separate(self, patterns: str) -> list[str]:
        """Split at commas, unless a name with commas matches as a whole."""
        parts = [part.strip() for part in patterns.split(",") if part.strip()]
        return [patterns] if not parts or self._match(patterns) else parts

    def _match(self, pattern: str) -> Sequence[str]:
        # an empty pattern would match functions without a name
        return self._groups.get(pattern) or (self.graph.matching(pattern) if pattern.strip() else ())

    def order_children(self, container: str, patterns: Sequence[str]) -> tuple[str, ...]:
        """Return the children of a container in the order of patterns: paths relative to it, classes or names."""
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
            return f"it contains modules but is not called, so it has no box; name the module around it: {around!r}"
        others = (name for names in self.graph.other_names.values() for name in names)
        near = nearest(pattern, [*self.graph.call_names, *others, *self._groups])
        if near:
            return f"did you mean {near!r}?"
        return "write a path (`encoder.layers.0`), a class, the name of an op, or `*` in them"
