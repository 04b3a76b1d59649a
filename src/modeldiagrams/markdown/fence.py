"""The ``model-graph`` fence for Python-Markdown, built on superfences. Its body names a model.

Everything specific to a documentation tool is in its `FenceHost`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from pymdownx.superfences import (  # type: ignore[import-untyped]
    SuperFencesBlockPreprocessor,
    SuperFencesCodeExtension,
    SuperFencesException,
)

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.diagram_parts import number_diagram
from modeldiagrams.hosting.host import draw
from modeldiagrams.hosting.reports import is_left_out, report_error, report_problem
from modeldiagrams.hosting.version_requests import read_changes, read_history
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.history_chart import render_history
from modeldiagrams.markdown.catalogue_fence import render_catalogue_fence
from modeldiagrams.markdown.fence_figure import render_figure
from modeldiagrams.markdown.find_fences import (
    CATALOGUE_FENCE,
    CHANGES_FENCE,
    DIFF_FENCE,
    FENCE,
    HISTORY_FENCE,
    find_fences,
    find_unread_headers,
    read_bare_body,
)
from modeldiagrams.markdown.part_links import link_parts
from modeldiagrams.markdown.tour_blocks import TourBlocks, Tours
from modeldiagrams.options.reading import read_body

if TYPE_CHECKING:
    from markdown import Markdown

    from modeldiagrams.markdown.fence_host import FenceHost

__all__ = ["FENCE", "IF_POSSIBLE_FENCE", "LOCATION", "PAGE_FENCE", "ModelDiagramsExtension"]

IF_POSSIBLE_FENCE = "model-graph-if-possible"
"""The fence of diagrams that a site adds to documented classes; left out if a model needs its author's help."""

PAGE_FENCE = "model-page"
"""The fence of a link to a model's page, which a site adds to API documentation."""

LOCATION = "docstring"
"""Header attribute with the source of a fence that is on no page: ``mypkg/models.py:12``."""

_NOT_RUN = (
    "this `model-graph` fence is printed as code, because another extension (`fenced_code`, also part of"
    " `markdown.extensions.extra`) is listed after `pymdownx.superfences`; list `pymdownx.superfences` last"
)
_UNREAD = (
    "`{}` is printed as text, because the first line of a fence holds its name alone; write the model and its options"
    " in the lines below, `model: mypkg.Model` and `depth: 1`"
)


class ModelDiagramsExtension(Extension):
    """Adds the fence to Python-Markdown, and superfences if it is missing.

    It keeps no state of a conversion, so one instance may serve many `Markdown` objects.
    """

    def __init__(self, host: FenceHost) -> None:
        super().__init__()
        self.host = host

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  (Python-Markdown's name)
        """Register the processors; called by Python-Markdown."""
        if not any(isinstance(extension, SuperFencesCodeExtension) for extension in md.registeredExtensions):
            md.registerExtensions(["pymdownx.superfences"], {})
        convert = md.convert

        def convert_document(source: str) -> str:
            with self.host.converting():
                return convert(source)

        # a wrapper, because Python-Markdown calls no extension when a conversion fails
        md.convert = convert_document  # type: ignore[method-assign]
        # before every other preprocessor, while the lines are still the author's
        tours = Tours(self.host)
        md.registerExtensions([TourBlocks(tours)], {})
        md.preprocessors.register(_FencePreprocessor(md, self.host, tours), FENCE, 1000)
        md.postprocessors.register(_DocumentPostprocessor(md, self.host, tours), FENCE, -1000)


class _DocumentPostprocessor(Postprocessor):
    """Resolves links to nodes, and tells the host that a document is converted."""

    def __init__(self, md: Markdown, host: FenceHost, tours: Tours) -> None:
        super().__init__(md)
        self.host = host
        self.tours = tours

    def run(self, text: str) -> str:
        self.tours.end(text)
        if not self.host.is_in_piece:  # a piece may refer to diagrams of the page around it
            text = link_parts(text, self.host)
        self.host.end_document()
        return text


class _FencePreprocessor(Preprocessor):
    """Finds the fences of one document, and draws each when superfences reaches it."""

    def __init__(self, md: Markdown, host: FenceHost, tours: Tours) -> None:
        super().__init__(md)
        self.host = host
        self.tours = tours
        self.waiting: list[tuple[int, str]] = []

    def run(self, lines: list[str]) -> list[str]:
        """Note where the fences are, and register ours with superfences. The text stays unchanged."""
        self.host.start_document(self.md)
        source = self.host.page_source()
        written = lines if source is None else source.split("\n")
        self.waiting = find_fences(written)
        self.tours.start(written)
        # extensions registered later replace earlier ones under the same name
        runner = self.md.preprocessors["fenced_code_block"]
        if isinstance(runner, SuperFencesBlockPreprocessor):
            known = runner.extension.superfences
            if not any(fence["name"] == FENCE for fence in known):
                for fence in (FENCE, DIFF_FENCE, IF_POSSIBLE_FENCE):
                    runner.extension.extend_super_fences(fence, self.draw, _accept, None)
                for fence in (CHANGES_FENCE, HISTORY_FENCE):
                    runner.extension.extend_super_fences(fence, self.list_versions, _accept, None)
                runner.extension.extend_super_fences(CATALOGUE_FENCE, self.list_models, _accept, None)
                runner.extension.extend_super_fences(PAGE_FENCE, self.link_page, _accept, None)
        else:
            for line, _ in self.waiting:
                self.host.warn(_NOT_RUN, line)
            return lines
        for line, header in find_unread_headers(written):
            self.host.warn(_UNREAD.format(header), line)
        return lines

    def draw(
        self,
        *,
        src: str,
        language: str,
        options: dict[str, str],
        classes: list[str],
        id_value: str,
        **_: Any,
    ) -> str:
        """Render a fence; called by superfences.

        Superfences prints the fence as code after any exception except its own.
        """
        location = options.pop(LOCATION, "")
        line = None if location else self._line(src)
        requested = language != IF_POSSIBLE_FENCE
        try:
            values = _collect_options(options, classes, id_value)
            if not requested and self.host.is_on_page(read_body(src).get("model", "")):
                return ""
            compares = language == DIFF_FENCE
            diagram = draw(self.host, values, src, requested=requested, compares=compares)
            diagram = number_diagram(diagram, self.host.on_page)
            self.host.note_attempt(diagram)
            report_problem(self.host, diagram, line, source=location, requested=requested)
            if is_left_out(diagram, requested=requested):
                return ""
            self.host.note_shown(diagram)
            return render_figure(diagram, self.host, self.md, documents=bool(location))
        except SuperFencesException:
            raise
        except Exception as error:
            message = f"model-graph: {type(error).__name__}: {error}"
            raise SuperFencesException(f"{self.host.location(line)}{message}") from error

    def list_versions(self, *, src: str, language: str, **_: Any) -> str:
        """Render the changes of all models, or of one model in all releases; called by superfences."""
        line = self._line(src)
        try:
            if language == HISTORY_FENCE:
                return render_history(read_history(self.host, src))
            return self.host.show_changes(read_changes(self.host, src))
        except ModelDiagramsError as error:
            report_error(self.host, error, line)
            return f"<p>{html_text(str(error))}</p>"

    def list_models(self, *, src: str, **_: Any) -> str:
        """Render a catalogue; called by superfences."""
        return render_catalogue_fence(self.host, src, self._line(src))

    def link_page(self, *, src: str, **_: Any) -> str:
        """Render the link from the documentation of a model to its page; called by superfences."""
        url = None if self.host.is_on_page(src.strip()) else self.host.model_page(src.strip())
        return f'<p><a href="{html_text(url)}">Diagram</a></p>' if url else ""

    def _line(self, body: str) -> int | None:
        """Return the line of the first fence with this body that isn't drawn yet."""
        for i, (line, text) in enumerate(self.waiting):
            if text == read_bare_body(body):
                del self.waiting[i]
                return line
        return None


def _accept(_language: str, inputs: dict[str, str], options: dict[str, str], *_: Any) -> bool:
    """Accept every header attribute as an option; called by superfences. The formatter checks them."""
    options.update(inputs)
    return True


def _collect_options(options: dict[str, str], classes: list[str], id_value: str) -> dict[str, Any]:
    """Return the options in a fence's header: ``{#anchor .class depth="1"}``."""
    values: dict[str, Any] = dict(options)
    if id_value:
        values["name"] = id_value
    if classes:
        values["class"] = " ".join(classes)
    return values
