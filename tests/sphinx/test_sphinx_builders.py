"""Builders without HTML get ordinary nodes that list the model's modules."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile

import cmarkgfm
import msgspec
import nh3
import pypdfium2
import pytest

from graphs import small_graph
from modeldiagrams.ir.describing.text import describe
from modeldiagrams.ir.graph import Guess, OpNode
from modeldiagrams.ir.serialize import load, save

# builder → where the outline must be found
OUTPUTS = {
    "text": "index.txt",
    "man": "fixture.1",
    "texinfo": "fixture.texi",
    "xml": "index.xml",
    "pseudoxml": "index.pseudoxml",
}
PICTURED = ("latex", "epub")
SILENT = ("gettext", "dummy", "changes", "linkcheck", "doctest", "json", "htmlhelp")

SCRIPT = """
import sys
from sphinx.cmd.build import main
source, out, *builders = sys.argv[1:]
for builder in builders:
    doctrees = f"{out}/doctrees-{builder == 'gettext'}"
    code = main(["-q", "-W", "-n", "-b", builder, "-d", doctrees, source, f"{out}/{builder}"])
    print(builder, code)
"""


@pytest.fixture(scope="module")
def built(site, tmp_path_factory):
    """One process runs all builders over one reading of the sources."""
    out = tmp_path_factory.mktemp("builders")
    (site / "conf.py").write_text((site / "conf.py").read_text() + MORE_CONFIG)
    for page in ("index", "guide/deep"):
        with (site / f"{page}.rst").open("a") as file:
            file.write("\nLook at :model:part:`fc`.\n")
    command = [sys.executable, "-c", SCRIPT, site, out, *OUTPUTS, *PICTURED, *SILENT]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0, result.stderr
    return out, result


MORE_CONFIG = """
extensions.append("sphinx.ext.doctest")
html_theme = "basic"
epub_show_urls = "no"
man_pages = [("index", "fixture", "fixture", [], 1)]
texinfo_documents = [("index", "fixture", "fixture", "nobody", "fixture", "fixture", "fixture")]
version = "1"
copyright = "nobody"
"""


@pytest.mark.parametrize("builder", [*OUTPUTS, *PICTURED, *SILENT])
def test_builder_runs_without_a_warning(built, builder):
    _, result = built
    assert f"{builder} 0" in result.stdout.splitlines(), result.stderr


@pytest.mark.parametrize("builder", OUTPUTS)
def test_text_builders_show_the_outline(built, builder):
    out, _ = built
    text = (out / builder / OUTPUTS[builder]).read_text("utf-8")
    assert ("# Net\n" if builder == "text" else "Architecture of Net") in text
    assert "Linear" in text
    assert "adjacency" not in text


def test_epub_has_a_flat_picture_and_no_script(built):
    out, _ = built
    with zipfile.ZipFile(next((out / "epub").glob("*.epub"))) as book:
        page = book.read("index.xhtml").decode()
        (address,) = re.findall(r'<img alt="Architecture of Net" src="([^"]*)"', page)
        picture = book.read(address).decode()
        assert f'href="{address}"' in book.read("content.opf").decode()
        assert not [name for name in book.namelist() if name.endswith(".js") and "model" in name]
    assert picture.startswith("<svg ")
    assert "class=" not in picture
    assert "<model-graph" not in page


def test_latex_has_a_vector_picture_in_a_numbered_figure(built):
    out, _ = built
    text = (out / "latex" / "fixture.tex").read_text("utf-8")
    figures = re.findall(r"\\begin\{figure\}(.*?)\\end\{figure\}", text, re.DOTALL)
    (figure,) = [figure for figure in figures if "of this page" in figure]
    ((base, suffix),) = re.findall(r"\\sphinxincludegraphics\{\{(.*)\}(\.pdf)\}", figure)
    with pypdfium2.PdfDocument(out / "latex" / f"{base}{suffix}") as document:
        assert len(document) == 1
        assert "Linear 4 → 2" in document[0].get_textpage().get_text_range()
    assert r"\caption" in figure
    assert figure.startswith("[htbp]")
    (noted,) = [figure for figure in figures if "Options as a body" in figure]
    assert noted.startswith("[H]")
    assert r"\DeclareUnicodeCharacter{2212}" in text


def test_words_of_a_book_link_to_the_picture_on_their_page(built):
    out, _ = built
    text = (out / "latex" / "fixture.tex").read_text("utf-8")
    links = re.findall(r"Look at {\\hyperref\[\\detokenize{(.*?)}\]", text)
    assert sorted(link.partition(":")[0] for link in links) == ["guide/deep", "index"]
    labels = re.findall(r"\\label{\\detokenize{(.*?)}}", text)
    assert [labels.count(link) for link in links] == [1, 1]


def test_words_of_an_info_file_link_to_the_picture(built):
    out, _ = built
    text = (out / "texinfo" / "fixture.texi").read_text("utf-8")
    links = re.findall(r"Look at @ref{([^,}]*)", text)
    assert [text.count(f"@anchor{{{link}}}") for link in links] == [1, 1]


@pytest.mark.parametrize("page", ["index", "guide/deep"])
def test_words_of_an_epub_link_to_the_picture_without_a_script(built, page):
    out, _ = built
    with zipfile.ZipFile(next((out / "epub").glob("*.epub"))) as book:
        text = book.read(f"{page}.xhtml").decode()
    root = ET.fromstring(re.sub(r"&(?!lt|gt|amp|quot|#)\w+;", " ", text))  # noqa: S314  ours; XHTML defines more entities
    (link,) = [link for link in root.iter("{http://www.w3.org/1999/xhtml}a") if "mg-part" in link.get("class", "")]
    assert link.get("data-mg-nodes") is None
    assert link.get("href", "").removeprefix("#") in {node.get("id") for node in root.iter()}
    assert "prose.js" not in text


def test_notes_are_below_the_diagram_in_every_builder(built):
    out, _ = built
    text = (out / "text" / "guide" / "deep.txt").read_text("utf-8")
    assert re.search(r"- fc: Linear\(.* \(shown as “Projection”, note 2\)", text)
    assert text.index("1. An *input* of the option.") < text.index("2. Everything that a page has: **bold**")
    (latex,) = (out / "latex").glob("*.tex")
    listed = re.search(r"\\begin\{enumerate\}(.*?)\\end\{enumerate\}", latex.read_text("utf-8"), re.DOTALL)[1]
    assert "An \\sphinxstyleemphasis{input} of the option." in listed
    with zipfile.ZipFile(next((out / "epub").glob("*.epub"))) as book:
        page = book.read("guide/deep.xhtml").decode()
    assert "An <em>input</em> of the option." in page
    assert 'msgid "a list"' in (out / "gettext" / "guide.pot").read_text("utf-8")


def test_text_builder_describes_the_graph(built):
    out, _ = built
    text = (out / "text" / "index.txt").read_text("utf-8")
    assert "- fc: Linear(in_features=4, out_features=2)" in text


@pytest.mark.parametrize("builder", [*OUTPUTS, "latex"])
def test_builders_without_scripts_show_the_table(built, builder):
    out, _ = built
    name = {**OUTPUTS, "latex": "fixture.tex"}[builder]
    text = re.sub(r"[^\S\n]+", " ", (out / builder / name).read_text("utf-8"))
    assert "Output shape" in text
    assert "32 B of parameters (float32)" in text
    if builder == "text":
        assert '| fc | "Linear" | 1×2 | 8 | 8 | – | 1 |' in text


def test_epub_has_the_table(built):
    out, _ = built
    with zipfile.ZipFile(next((out / "epub").glob("*.epub"))) as book:
        page = book.read("index.xhtml").decode()
    table = page[page.index("<table") : page.index("</table>")]
    assert re.findall(r"<th[^>]*><p>(.*?)</p></th>", table)[:3] == ["Module", "Class", "Output shape"]
    assert "<p>1×2</p>" in table


def test_gettext_extracts_only_the_authors_text(built):
    out, _ = built
    catalogue = (out / "gettext" / "index.pot").read_text("utf-8")
    assert "The *net* of this page." in catalogue
    assert "Architecture of" not in catalogue
    assert '"fc"' not in catalogue
    assert '"A net, from left to right."' in (out / "gettext" / "guide.pot").read_text("utf-8")


def save_guessed(path):
    """Save a graph with an assumed answer, of which its diagram warns."""
    graph = small_graph()
    guess = Guess(node=next(node.id for node in graph.nodes if isinstance(node, OpNode)), value=False, reason="?")
    status = msgspec.structs.replace(graph.status, guesses=(guess,))
    save(msgspec.structs.replace(graph, status=status), path)


NOTED = """
.. model-graph:: guessed.json

.. model-graph:: guessed.json
   :caption: A *caption*.
   :name: captioned

.. model-graph:: missing.Model
   :nowarn:

.. model-graph:: missing.Other
   :nowarn:
   :caption: Another one.

Behind.
"""


def test_epub_is_well_formed_with_any_text(make_site, build, tmp_path):
    source = make_site(index=NOTED, conf='version = "1"\ncopyright = "nobody"\nepub_show_urls = "no"')
    save_guessed(source / "guessed.json")
    result = build(source, tmp_path / "out", "-b", "epub")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out" / "index.xhtml").read_text("utf-8")
    root = ET.fromstring(re.sub(r"&(?!lt|gt|amp|quot|#)\w+;", " ", page))  # noqa: S314  ours
    tag = "{{http://www.w3.org/1999/xhtml}}{}".format
    figures = ["".join(figure.itertext()) for figure in root.iter(tag("figure"))]
    assert ["A real pass may differ" in text for text in figures] == [True, True, False, False]
    assert ["missing" in text for text in figures] == [False, False, True, True]
    assert [len([*figure.iter(tag("img"))]) for figure in root.iter(tag("figure"))] == [1, 1, 0, 0]
    captions = [figure.findall(tag("figcaption")) for figure in root.iter(tag("figure"))]
    assert [len(found) for found in captions] == [1, 1, 0, 1]


def test_manual_pages_have_no_requests_in_their_text(make_site, build, tmp_path):
    source = make_site(index=NOTED, conf='man_pages = [("index", "page", "page", [], 1)]')
    save_guessed(source / "guessed.json")
    result = build(source, tmp_path / "out", "-b", "man")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "out" / "page.1").read_text("utf-8")
    assert not re.search(r"[^\n]\.UNINDENT", page)
    assert "\n.sp\nAnother one.\n" in page


def test_assumptions_are_shown_by_builders_without_html(make_site, build, tmp_path):
    source = make_site(index=".. model-graph:: guessed.json\n")
    save_guessed(source / "guessed.json")
    result = build(source, tmp_path / "out", "-b", "text", "-W")
    assert result.returncode == 0, result.stderr
    assert "A real pass may differ" in (tmp_path / "out" / "index.txt").read_text("utf-8")


def test_markdown_has_the_description_and_the_address_of_the_graph(make_site, build, tmp_path):
    source = make_site(
        index=".. model-graph:: net.json\n   :caption: A *caption*.\n   :name: captioned\n   :table:\n\nBehind.\n",
        conf='extensions.append("sphinx_markdown_builder")\nhtml_baseurl = "https://example.org/docs/"',
    )
    for builder in ("markdown", "html"):
        result = build(source, tmp_path / builder, "-b", builder, "-W", "-n")
        assert result.returncode == 0, result.stderr
    page = (tmp_path / "markdown" / "index.md").read_text("utf-8")
    (address,) = re.findall(r"^The whole graph: https://example\.org/docs/(.*)", page, re.MULTILINE)
    assert load(tmp_path / "html" / address) == load(source / "net.json")
    text = describe(load(source / "net.json"), f"https://example.org/docs/{address}")
    assert f"```markdown\n{text.rstrip()}\n```" in page
    seen = re.sub(r"\s+", " ", nh3.clean(cmarkgfm.github_flavored_markdown_to_html(page), tags={"td"}))
    assert " A caption. " in seen
    assert "<td>fc</td> <td>Linear</td> <td>1×2</td> <td>8</td>" in seen
    assert re.search(r"<td>1</td> Parameters: 8, all trainable FLOPs: not counted Memory: 32 B .* Behind\. $", seen)
