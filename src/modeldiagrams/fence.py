"""The ``model-graph`` fence for Python-Markdown: a superfences fence whose body names a model.

A host says what only it knows: which page this is, how paths and links work there, whom to warn. It also writes the
files beside the pages: `host.data_files` and `sitedata.graph_files` of its diagrams, and `sitedata.shared_files`.
"""

from __future__ import annotations

import functools
import logging
import re
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from pymdownx.superfences import (  # type: ignore[import-untyped]
    SuperFencesBlockPreprocessor,
    SuperFencesCodeExtension,
    SuperFencesException,
)

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.host import (
    FOLDER,
    UNASKED,
    describe,
    draw,
    figure_classes,
    in_figure,
    link_names,
    read_body,
    refused,
)
from modeldiagrams.lines import line_link
from modeldiagrams.markup import html_text
from modeldiagrams.page import fragment
from modeldiagrams.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown import Markdown

    from modeldiagrams.diagrams import Diagram, Maker

__all__ = ["FENCE", "PLACE", "UNASKED_FENCE", "FenceHost", "ModelDiagramsExtension"]

FENCE = "model-graph"

UNASKED_FENCE = "model-graph-if-possible"
"""The fence of diagrams that nobody asked for one by one: where nothing can be drawn without help, nothing is."""

PLACE = "docstring"
"""What a fence that stands on no page says in its first line: where the author wrote it, ``mypkg/models.py:12``."""

_OPENING = re.compile(r"[\s>]*(?P<fence>`{3,}|~{3,})(?P<head>[^`]*)$")
_HEAD = re.compile(rf"\s*(\{{([^.}}]*\.)?\s*)?{FENCE}(?![\w-])")
_CAPTION = ("inline", "attr_list", "unescape", "relpath")
"""What a page does with its text that a caption needs, too; `relpath` is MkDocs' own and knows the links."""

_NOT_RUN = (
    "this `model-graph` fence is printed as code, because another extension (`fenced_code`, also part of"
    " `markdown.extensions.extra`) is listed after `pymdownx.superfences`; list `pymdownx.superfences` last"
)

_log = logging.getLogger(__name__)


class FenceHost:
    """What a fence asks of the place it runs in; this one knows nothing about it.

    Attributes:
        maker: Traces and draws.
        settings: The site's.
        diagrams: Every diagram made so far, by id; their files belong into the site.
    """

    def __init__(self, maker: Maker, settings: Settings | None = None) -> None:
        self.maker = maker
        self.settings = settings or Settings()
        self.diagrams: dict[str, Diagram] = {}

    def begins(self, md: Markdown) -> None:
        """Called before each document, and each piece of one that another extension converts by itself."""

    def ends(self) -> None:
        """Called after each document, and each such piece of one."""

    def tried(self, diagram: Diagram) -> None:
        """Called with every diagram that was made, or could not be, whether it is shown or not."""

    def drawn(self, diagram: Diagram) -> None:
        """Called with every diagram that is put on the current page."""
        known = self.diagrams.get(diagram.id)
        # the same may also be shown as a still picture, or fail with less time: files of one that has some are kept
        if known is None or known.graph is None or known.picture is None or known.options.static:
            self.diagrams[diagram.id] = diagram

    def assets(self) -> str:
        """URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        return f"{FOLDER}/"

    def graph_file(self, path: str) -> str:
        """A graph file as an author wrote it → relative to the maker's folder."""
        return path

    def link(self, names: Sequence[str], html: str) -> str:  # noqa: ARG002  (hosts override it)
        """A mention of a class, as a cross reference where the host has them.

        Args:
            names: Those it may be documented under, most exact first.
            html: The mention.
        """
        return html

    def source(self) -> str | None:
        """The current page's whole text, front matter included; None where only Python-Markdown knows it."""
        return None

    def place(self, line: int | None) -> str:
        """Where in the documentation a message belongs, to stand before it."""
        return f"line {line}: " if line else ""

    def warn(self, message: str, line: int | None) -> None:
        """Report a problem to whoever builds the site.

        Args:
            message: One or more lines.
            line: Of the fence in `source`, from 1; None where it was not found.
        """
        _log.warning("%s%s", self.place(line), message)

    def inform(self, message: str) -> None:
        """Tell something to whoever wants to hear everything."""
        _log.debug("%s", message)

    def fail(self, message: str, line: int | None) -> None:
        """End the build.

        Raises:
            Exception: one that superfences lets through.
        """
        raise SuperFencesException(f"{self.place(line)}{message}")


class ModelDiagramsExtension(Extension):
    """Adds the fence to Python-Markdown, and superfences where it is missing.

    Holds no state of a conversion: one instance may serve many `Markdown` objects.
    """

    def __init__(self, host: FenceHost) -> None:
        super().__init__()
        self.host = host

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  (Python-Markdown's name)
        """Called by Python-Markdown."""
        if not any(isinstance(extension, SuperFencesCodeExtension) for extension in md.registeredExtensions):
            md.registerExtensions(["pymdownx.superfences"], {})
        # before every other preprocessor: the lines are still the author's
        md.preprocessors.register(_Fences(md, self.host), FENCE, 1000)
        md.postprocessors.register(_End(md, self.host), FENCE, -1000)


class _End(Postprocessor):
    """Tells the host that a document is done."""

    def __init__(self, md: Markdown, host: FenceHost) -> None:
        super().__init__(md)
        self.host = host

    def run(self, text: str) -> str:
        self.host.ends()
        return text


class _Fences(Preprocessor):
    """Finds the fences of one document, and draws each when superfences comes to it."""

    def __init__(self, md: Markdown, host: FenceHost) -> None:
        super().__init__(md)
        self.host = host
        self.places: list[tuple[int, str]] = []

    def run(self, lines: list[str]) -> list[str]:
        """Take note of the fences and make sure that superfences knows ours. The text stays as it is."""
        self.host.begins(self.md)
        source = self.host.source()
        self.places = _find(lines if source is None else source.split("\n"))
        # only now is it known which extension has won: later ones replace earlier ones under the same name
        runner = self.md.preprocessors["fenced_code_block"]
        if isinstance(runner, SuperFencesBlockPreprocessor):
            known = runner.extension.superfences
            if not any(fence["name"] == FENCE for fence in known):
                runner.extension.extend_super_fences(FENCE, self.draw, _accept, None)
                draw_if_possible = functools.partial(self.draw, asked=False)
                runner.extension.extend_super_fences(UNASKED_FENCE, draw_if_possible, _accept, None)
        else:
            for line, _ in self.places:
                self.host.warn(_NOT_RUN, line)
        return lines

    def draw(
        self, *, src: str, options: dict[str, str], classes: list[str], id_value: str, asked: bool = True, **_: Any
    ) -> str:
        """The formatter that superfences calls: HTML of one fence.

        Superfences passes over what it raises and prints the fence as code, unless it is one exception of its own.
        """
        place = options.pop(PLACE, "")
        line = None if place else self._line(src)
        try:
            return self._drawn(_header(options, classes, id_value), src, line, place, asked=asked)
        except SuperFencesException:
            raise
        except Exception as error:
            what = f"model-graph: {type(error).__name__}: {error}"
            raise SuperFencesException(f"{self.host.place(line)}{what}") from error

    def _drawn(self, values: dict[str, Any], src: str, line: int | None, place: str, *, asked: bool) -> str:
        diagram = self._diagram(values, src, asked=asked)
        if diagram.problem and diagram.problem.kind in UNASKED and not asked:
            self.host.inform(describe(diagram.problem))
            if diagram.graph is None:
                return ""
        else:
            self._report(diagram, line, place)
        self.host.drawn(diagram)
        return _figure(diagram, self.host, self.md)

    def _report(self, diagram: Diagram, line: int | None, place: str) -> None:
        """Tell a problem as the site wants it told."""
        if diagram.problem is None or diagram.options.nowarn:
            return
        tell = {"warn": self.host.warn, "raise": self.host.fail}.get(self.host.settings.on_error)
        message = f"{place}: {describe(diagram.problem)}" if place else describe(diagram.problem)
        tell(message, line) if tell else self.host.inform(message)

    def _diagram(self, values: dict[str, Any], body: str, *, asked: bool) -> Diagram:
        try:
            values |= read_body(body)
        except ModelDiagramsError as error:
            return refused(values, error)
        model = values.get("model")
        if isinstance(model, str) and model.endswith(".json"):
            values["model"] = self.host.graph_file(model)
        if self.host.settings.static_only:
            values["static"] = True
        diagram = draw(self.host.maker, values, self.host.settings, asked=asked)
        self.host.tried(diagram)
        if self.host.maker.output:
            self.host.inform(f"{diagram.options.model} printed:\n{self.host.maker.output}")
        return diagram

    def _line(self, body: str) -> int | None:
        """Line of the first fence with this body that was not asked for yet."""
        for i, (line, text) in enumerate(self.places):
            if text == _bare(body):
                del self.places[i]
                return line
        return None


def _accept(_language: str, inputs: dict[str, str], options: dict[str, str], *_: Any) -> bool:
    """Superfences' validator: take every header attribute as an option; the formatter checks them."""
    options.update(inputs)
    return True


def _header(options: dict[str, str], classes: list[str], id_value: str) -> dict[str, Any]:
    """The options that stand beside the fence's name: ``{#anchor .class depth="1"}``."""
    values: dict[str, Any] = dict(options)
    if id_value:
        values["name"] = id_value
    if classes:
        values["class"] = " ".join(classes)
    return values


def _find(lines: list[str]) -> list[tuple[int, str]]:
    """Line number (from 1) and bare body of every fence that is not itself quoted inside another fence."""
    found = []
    fence: str | None = None
    start, ours = 0, False
    for number, line in enumerate(lines, 1):
        if fence is None:
            opening = _OPENING.match(line)
            if opening:
                fence, start, ours = opening["fence"], number, bool(_HEAD.match(opening["head"]))
        elif line.strip("> \t") == fence:
            if ours:
                found.append((start, _bare("\n".join(lines[start : number - 1]))))
            fence = None
    return found


def _bare(body: str) -> str:
    """A body without indentation and quote marks, which differ between the page and what superfences hands over."""
    return "\n".join(line.lstrip("> \t").rstrip() for line in body.strip().splitlines())


def _figure(diagram: Diagram, host: FenceHost, md: Markdown) -> str:
    """The fragment as a figure with its caption and anchor."""
    options = diagram.options
    classes = figure_classes(options)
    if options.align:
        classes.append(f"align-{options.align}")
    anchor = f' id="{html_text(options.name)}"' if options.name else ""

    def link(class_name: str, html: str) -> str:
        return host.link(link_names(diagram, class_name), html)

    source = line_link(host.settings, diagram, host.maker.folder)
    inner = fragment(in_figure(diagram), assets=host.assets(), link=link, source_link=source)
    caption = f"<figcaption>{_caption(options.caption, md)}</figcaption>\n" if options.caption else ""
    return f'<figure class="{html_text(" ".join(classes))}"{anchor}>\n{inner}\n{caption}</figure>'


def _caption(text: str, md: Markdown) -> str:
    """A caption's Markdown, converted as the page's own text is; a single paragraph without its tag."""
    root = Element("div")
    md.parser.parseChunk(root, text)
    for name in _CAPTION:
        if name in md.treeprocessors:
            md.treeprocessors[name].run(root)
    if len(root) == 1 and root[0].tag == "p":
        root = root[0]
    html = md.serializer(root)
    return html[html.index(">") + 1 : html.rindex("<")].strip()
