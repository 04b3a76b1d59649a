"""Tours and words for parts in MyST, and in builders without HTML."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

MYST = """
# Tour

::::{model-tour} net.json
:depth: 0
:name: walk

:::{tour-step} The *layer*
:focus: fc

What {model:part}`the layer <fc>` does, with `code`.
:::

:::{model-note} fc
What a *note* says.
:::

:::{tour-step} The end
:highlight: relu

Last.
:::
::::
"""


@pytest.fixture(scope="module")
def source(make_site):
    source = make_site('extensions += ["myst_parser"]\nmyst_enable_extensions = ["colon_fence"]', index=".. note:: x\n")
    (source / "index.rst").unlink()
    (source / "index.md").write_text(MYST)
    return source


def test_myst_has_tours_and_words_for_parts(source, build, tmp_path):
    done = build(source, tmp_path / "html", "-W")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html" / "index.html").read_text()
    assert re.findall(r'id="(walk-step-\d)"', page) == ["walk-step-1", "walk-step-2"]
    assert re.search(r'mg-part" href="#net\S*\?at=\S+" data-mg-graph="net\S*"', page)
    assert "<strong>The <em>layer</em></strong>" in page
    (notes,) = re.findall(r'<ol class="[^"]*mg-notes.*?</ol>', page, re.DOTALL)
    assert "What a <em>note</em> says." in notes
    assert page.count("What a <em>note</em> says.") == 1


def test_in_latex_each_step_is_a_picture_and_words_refer_to_the_figure(source, build, tmp_path):
    done = build(source, tmp_path / "latex", "-W", "-b", "latex")
    assert done.returncode == 0, done.stderr
    text = next((tmp_path / "latex").glob("*.tex")).read_text()
    pictures = re.findall(r"includegraphics\{\{(net[\w.-]+)\}", text)
    assert len(pictures) == len(set(pictures)) == 3
    assert r"\hyperref[\detokenize{index:walk}]" in text
    assert text.count(r"\label{\detokenize{index:walk}}") == 1
    # figure and titles stay with what belongs to them
    assert re.findall(r"\\begin{figure}(\[.*?\])", text) == ["[H]"]
    assert len(re.findall(r"}\n+\\nopagebreak\n+\\noindent{\\hspace\*{\\fill}\\sphinxincludegraphics", text)) == 2


def test_a_tour_as_text_is_its_prose(source, build, tmp_path):
    done = build(source, tmp_path / "text", "-W", "-b", "text")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "text" / "index.txt").read_text()
    assert "What the layer does" in text
    assert text.index("- fc: Linear") < text.index("Last.")


SAME = """
.. model-tour:: net.json
   :no-index:

   .. tour-step:: First

      Prose of {page} with :model:part:`relu <net.json#relu>`.

   .. model-note:: fc

      Note of {page}.

.. model-graph:: tinymodels.Net
   :inputs: [1, 4]
   :no-index:

.. model-graph:: net.json
   :static:
   :no-index:
   :name: still
   :rename: {{relu: Rectified}}

:model:part:`still#relu`
"""


def test_in_singlehtml_parts_lead_to_the_diagram_of_their_document(make_site, build, tmp_path):
    conf = f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[1])!r})"
    source = make_site(conf, one=SAME.format(page="one"), two=SAME.format(page="two"))
    done = build(source, tmp_path / "out", "-b", "singlehtml", "-W")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert re.findall(r'<a class="[^"]*mg-part"[^>]*data-mg-place="(\d)"', page) == ["0", "1"]
