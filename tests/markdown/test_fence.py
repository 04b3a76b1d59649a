"""The fence in plain Python-Markdown, without MkDocs."""

from __future__ import annotations

import contextlib
import logging
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import markdown
import pytest
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension

from graphs import small_graph
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.hosting.site_files import build_diagram_files
from modeldiagrams.ir.serialize import save
from modeldiagrams.markdown.fence import ModelDiagramsExtension
from modeldiagrams.markdown.fence_host import FenceHost
from modeldiagrams.options.settings import Settings


@pytest.fixture(scope="module")
def builder(tmp_path_factory) -> Iterator[DiagramBuilder]:
    """What was drawn once is not drawn again."""
    folder = tmp_path_factory.mktemp("folder")
    save(small_graph(), folder / "net.json")
    with DiagramBuilder(folder / "cache", folder=folder) as builder:
        yield builder


@pytest.fixture
def host(builder):
    return FenceHost(builder, Settings(defaults={"direction": "LR"}))


def test_site_defaults_apply_unless_a_fence_overrides_them(host):
    text = "```model-graph\nnet.json\n```\n\n```model-graph\n{model: net.json, direction: TB}\n```"
    markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert [diagram.options.view.direction for diagram in host.diagrams.values()] == ["LR", "TB"]


def test_one_extension_serves_many_conversions(host):
    extension = ModelDiagramsExtension(host=host)
    converter = markdown.Markdown(extensions=[extension])
    pages = [converter.reset().convert("```model-graph\nnet.json\n```") for _ in range(2)]
    pages.append(markdown.markdown("```model-graph\nnet.json\n```", extensions=[extension]))
    assert len(set(pages)) == 1
    assert pages[0].count("<figure") == 1


def test_superfences_may_be_listed_after_us(host):
    extensions = [ModelDiagramsExtension(host=host), "pymdownx.superfences"]
    assert "<figure" in markdown.markdown("```model-graph\nnet.json\n```", extensions=extensions)


def test_warnings_name_the_line_of_each_of_equal_fences(host, caplog):
    text = (
        "# T\n\n```model-graph\nno.json\n```\n\n> ~~~model-graph\n> no.json\n> ~~~\n\n"
        "- item\n\n    ```model-graph\n    no.json\n    ```\n"
    )
    with caplog.at_level(logging.WARNING):
        markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["line 3", "line 7", "line 13"]


def test_form_feeds_and_unicode_separators_do_not_count_as_lines(host, caplog):
    text = "A form\x0cfeed, a\u2028line of typesetters\n\n```model-graph\nno.json\n```\n"
    host.page_source = lambda: text
    markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert caplog.messages[0].startswith("line 3: model-graph: no.json: ")


def test_internal_error_ends_the_build_instead_of_printing_code(host, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(host, "note_shown", fail)
    with pytest.raises(Exception, match=r"^line 3: model-graph: OSError: .* No space left on device"):
        markdown.markdown("# T\n\n```model-graph\nnet.json\n```", extensions=[ModelDiagramsExtension(host=host)])


def test_warnings_of_fences_in_docstrings_name_the_docstring(host, caplog):
    text = '```model-graph\nno.json\n```\n\n```model-graph docstring="pkg/models.py:7"\nno.json\n```\n'
    with caplog.at_level(logging.WARNING):
        markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert caplog.messages[0].startswith("line 1: model-graph: no.json: ")
    assert caplog.messages[1].startswith("pkg/models.py:7: model-graph: no.json: ")


@pytest.mark.parametrize("body", ["- a\n- b", "two words", "7"])
def test_unreadable_body_warns_about_the_expected_form(body, host, caplog):
    html = markdown.markdown(f"```model-graph\n{body}\n```", extensions=[ModelDiagramsExtension(host=host)])
    assert "mg-problem" in html
    (record,) = caplog.records
    assert "expected one line that names the model, or options as YAML" in record.getMessage()


CONTAINERS = {
    "page": ("", ""),
    "list": ("- item\n\n", "    "),
    "list in list": ("1. item\n\n    - item\n\n", "        "),
    "quote": ("> text\n>\n", "> "),
    "list in quote": ("> - item\n>\n", ">     "),
    "quote in quote": ("> text\n>\n> > text\n> >\n", "> > "),
    "admonition": ('!!! note "Title"\n\n', "    "),
    "details": ("??? note\n\n", "    "),
    "tab": ('=== "Tab"\n\n', "    "),
    "tab in admonition in list": ('- item\n\n    !!! note\n\n        === "Tab"\n\n', "            "),
    "annotation": ("A word. (1)\n{ .annotate }\n\n1.  text\n\n", "    "),
    "definition": ("Term\n:   Text\n\n", "    "),
    "block": ("/// note | Title\n\n", ""),
    "html": ("<div markdown>\n\n", ""),
}
AFTER = {"block": "\n\n///\n", "html": "\n\n</div>\n"}
EXTENSIONS = ("admonition", "attr_list", "def_list", "md_in_html", "pymdownx.blocks.admonition", "pymdownx.details")
HEADERS = (
    '```model-graph {#net .a .b depth="1"}',
    '~~~ {.model-graph #net .a .b depth="1"}',
    "```{#net .model-graph .a .b depth=1}",
    '``` model-graph {  #net class="a b" depth=1 }',
)


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_fence_with_header_works_in_every_container(container, header, host, caplog):
    before, indent = CONTAINERS[container]
    fence = "\n".join(f"{indent}{line}" for line in (header, "model: net.json", "expand: none", header[:3]))
    extensions = [*EXTENSIONS, "pymdownx.superfences", "pymdownx.tabbed", ModelDiagramsExtension(host=host)]
    html = markdown.markdown(before + fence + AFTER.get(container, ""), extensions=extensions)
    assert html.count('<figure class="mg-figure a b" id="net">') == 1
    assert header[:3] not in html
    (diagram,) = host.diagrams.values()
    assert diagram.options.view.depth == 1
    (message,) = caplog.messages
    assert message.startswith(f"line {before.count(chr(10)) + 1}: model-graph: option `expand`: ")


@pytest.mark.parametrize("header", ["model-graph no.json", "model-graph depth=1", "{model-graph} no.json"])
def test_header_that_superfences_leaves_as_text_gives_a_warning(header, host, caplog):
    text = f"```\n~~~{header}\n~~~\n```\n\n~~~{header}\nnet.json\n~~~\n\n```model-graph title\nnet.json\n```\n"
    assert header in markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert [one.partition(", because")[0] for one in caplog.messages if "printed" in one] == [
        f"line 6: `{header}` is printed as text"
    ]


def test_caption_is_markdown_and_text_is_escaped(host):
    text = '```model-graph\nmodel: net.json\ncaption: The `<b>` of *x*\nclass: a"b\n```'
    html = markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert "<figcaption>The <code>&lt;b&gt;</code> of <em>x</em></figcaption>" in html
    assert 'class="mg-figure a&#34;b"' in html


def test_fence_imports_no_documentation_tool_and_no_torch():
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    heavy = {"mkdocs", "sphinx", "torch", "py_mini_racer"}
    code = f"import sys, modeldiagrams.markdown.fence; print({heavy} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_static_diagram_of_the_same_id_keeps_the_interactive_ones_files(host):
    text = "```model-graph\nnet.json\n```\n\n```model-graph\n{model: net.json, static: true}\n```"
    markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    assert {name.rpartition(".")[2] for name in build_diagram_files(host.diagrams.values())} == {"js", "json", "txt"}


class Pieces(Extension):
    """Converts paragraphs that begin with `:::` on its own, as mkdocstrings does with docstrings."""

    def __init__(self, host, text):
        super().__init__()
        self.host, self.text = host, text

    def extendMarkdown(self, md):  # noqa: N802
        md.parser.blockprocessors.register(self.Processor(md.parser, self), "pieces", 1000)

    class Processor(BlockProcessor):
        def __init__(self, parser, pieces):
            super().__init__(parser)
            self.pieces = pieces

        def test(self, parent, block):  # noqa: ARG002
            return block.startswith(":::")

        def run(self, parent, blocks):
            blocks.pop(0)
            extension = ModelDiagramsExtension(host=self.pieces.host)
            with contextlib.suppress(ZeroDivisionError):
                html = markdown.markdown(self.pieces.text, extensions=[extension, *self.pieces.more])
                ET.SubElement(parent, "div").text = self.parser.md.htmlStash.store(html)

    more = ()


class Failing(Extension):
    """Ends a conversion."""

    def extendMarkdown(self, md):  # noqa: N802
        md.parser.blockprocessors.register(self.Processor(md.parser), "failing", 1000)

    class Processor(BlockProcessor):
        def test(self, parent, block):  # noqa: ARG002
            raise ZeroDivisionError


PAGE = "```model-graph\nnet.json\n```\n\n[the layer](model:{of}fc) and\n\n::: pkg.mod\n\n[again](model:/relu)"


@pytest.mark.parametrize(
    ("of", "piece", "words"),
    [
        ("", "A docstring.", ["the layer", "again"]),
        ("", "Speaks of [it](model:fc).", ["the layer", "it", "again"]),
        ("named#", "```model-graph\n{model: net.json, name: named}\n```", ["the layer", "again"]),
    ],
)
def test_separately_converted_pieces_of_a_page_share_its_diagrams(host, caplog, of, piece, words):
    extensions = [ModelDiagramsExtension(host=host), Pieces(host, piece)]
    html = markdown.markdown(PAGE.format(of=of), extensions=extensions)
    assert not caplog.records
    links = re.findall(r'<a class="mg-part" href="#([^"]*)"[^>]*>(.*?)</a>', html)
    assert [text for _, text in links] == words
    assert all(f'id="{address}"' in html for address, _ in links)
    assert html.count("prose.js") == 1


def test_a_failed_piece_keeps_the_links_of_the_page(host, caplog):
    pieces = Pieces(host, "A docstring.")
    pieces.more = (Failing(),)
    html = markdown.markdown(PAGE.format(of=""), extensions=[ModelDiagramsExtension(host=host), pieces])
    assert not caplog.records
    assert html.count('class="mg-part"') == 2


def test_notes_of_fences_may_contain_code(host, caplog):
    note = "fc: |\n    See\n\n    ```python\n    x = 1\n    ```\n\n    - one\n    - two\n"
    text = f"````model-graph\nmodel: net.json\nnotes:\n  {note}````\n\n```python\ny = 2\n```"
    html = markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    listed = re.search(r'<ol class="mg-notes">(.*?)</ol>', html, re.DOTALL)
    assert re.search(r'<div class="highlight">.*<span class="n">x</span>.*<li>one</li>', listed[1], re.DOTALL)
    assert '<span class="n">y</span>' in html
    assert not re.search("[\x02\x03]|wzxhzdk", html)
    assert not caplog.records


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/// model-note | fc\nText.\n///", "line 1: model-note: expected inside a `model-tour`"),
        ("{tour}//// model-note\nText.\n////\n///", "line 6: model-note: expected a pattern: `//// model-note"),
        (
            "{tour}//// model-note | fc\nOne.\n////\n\n//// model-note | fc\nTwo.\n////\n///",
            "line 10: model-note: two notes have the pattern 'fc'; write both in one",
        ),
    ],
)
def test_misplaced_notes_are_reported(host, caplog, text, message):
    tour = "/// model-tour | net.json\n\n//// tour-step | First\nProse.\n////\n"
    markdown.markdown(text.format(tour=tour), extensions=[ModelDiagramsExtension(host=host)])
    (record,) = caplog.records
    assert record.getMessage().startswith(message)


def test_notes_of_tours_may_contain_code(host, caplog):
    tour = "/// model-tour | net.json\n\n//// tour-step | First\nProse.\n{}\n////\n{}\n///"
    note = "{0} model-note | {1}\nSee:\n\n```python\n{2} = 1\n```\n{0}"
    text = tour.format(note.format("/////", "fc", "x"), note.format("////", "relu", "y"))
    html = markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    listed, rest = re.search(r'<ol class="mg-notes">(.*?)</ol>(.*)', html, re.DOTALL).groups()
    assert re.findall(r'<span class="n">(\w)</span>', listed) == ["x", "y"]
    assert "highlight" not in rest
    assert 'class="mg-note"' in html
    assert not re.search("[\x02\x03]|wzxhzdk", html)
    assert not caplog.records


def test_each_diagram_of_a_page_has_its_own_notes(host):
    fences = [f"```model-graph\nmodel: net.json\nnotes: {{fc: {text}}}\n```" for text in ("One.", "Two.")]
    html = markdown.markdown("\n\n".join(fences), extensions=[ModelDiagramsExtension(host=host)])
    prefixes = re.findall(r'<model-graph[^>]* notes="([^"]+)"', html)
    assert len(set(prefixes)) == 2
    assert re.findall(r'<li id="([^"]+)"><p>(One|Two)', html) == [
        (f"{prefix}-note-1", text) for prefix, text in zip(prefixes, ("One", "Two"), strict=True)
    ]


def test_each_tour_of_a_page_has_its_own_steps(host):
    tour = "/// model-tour | net.json\n\n//// tour-step | First\n    expand: [fc]\n\nProse.\n////\n///"
    html = markdown.markdown(f"{tour}\n\nText.\n\n{tour}", extensions=[ModelDiagramsExtension(host=host)])
    ids = re.findall(r'id="([^"]+-step-1)"', html)
    assert len(ids) == len(set(ids)) == 2
