"""Diagrams in themes of Sphinx, and in the styles of real projects' documentation."""

from __future__ import annotations

import itertools
import os
import subprocess
import venv
from pathlib import Path

import pytest

from graphs import small_graph
from hosts.builders import sphinx_build
from hosts.fork_server import Tools
from modeldiagrams.ir.serialize import save
from samples import some

ROOT = Path(__file__).parents[2]
THEMES = ("alabaster", "furo", "pydata_sphinx_theme", "sphinx_book_theme", "sphinx_rtd_theme")
SCHEMES = ("light", "dark")
STYLES = {
    "tabs": """
.. tab-set::

   .. tab-item:: First

      .. model-graph:: net.json
         :no-index:
         :caption: In the first tab.

   .. tab-item:: Second

      .. model-graph:: net.json
         :no-index:
         :direction: LR
         :depth: 1

.. dropdown:: More

   .. model-graph:: net.json
      :no-index:

.. card:: In a card

   .. model-graph:: net.json
      :no-index:
      :static:
""",
    "myst": """
# MyST

See {model-graph}`mypkg.Net` and {model-graph}`~mypkg.Net#fc`; {numref}`the-net`.

```{model-graph} net.json
:name: the-net
:caption: A *net*.
```

::::{tab-set}
:::{tab-item} One
A word.
:::
:::{tab-item} Two
```{model-graph} net.json
:no-index:
```
:::
::::
""",
}
CONF = """
extensions = ["myst_parser", "sphinx_design", "sphinx_modeldiagrams"]
myst_enable_extensions = ["colon_fence"]
numfig = True
"""


def write(source: Path) -> None:
    """The sources of the site."""
    source.mkdir()
    (source / "conf.py").write_text(CONF)
    (source / "index.rst").write_text(
        "Index\n=====\n\n.. toctree::\n\n   tabs\n   myst\n\n.. model-graph:: net.json\n   :no-index:\n"
    )
    (source / "tabs.rst").write_text(f"Tabs\n====\n{STYLES['tabs']}")
    (source / "myst.md").write_text(STYLES["myst"])
    save(small_graph(), source / "net.json")


@pytest.fixture(scope="module")
def sites(tmp_path_factory, tools: Tools) -> Path:
    """The folder of the same site in every theme."""
    folder = tmp_path_factory.mktemp("themes")
    source, out = folder / "source", folder / "out"
    write(source)
    build = sphinx_build(tools["sphinx"])
    for theme in THEMES:
        result = build(source, out / theme, "-W", "-n", "-D", f"html_theme={theme}", doctrees=out / "doctrees")
        assert result.returncode == 0, result.stderr
    return out


@pytest.mark.parametrize(
    ("theme", "scheme"), some(itertools.product(THEMES, SCHEMES), set(zip(THEMES, itertools.cycle(SCHEMES))))
)
def test_picture_is_visible_in_every_theme(theme, scheme, sites, reader_with, tmp_path):
    with reader_with(color_scheme=scheme) as reader:
        reader.page.goto(f"{(sites / theme).as_uri()}/index.html")
        picture = reader.page.locator("model-graph svg.mg-svg").first
        picture.wait_for()
        box = picture.bounding_box()
        assert box["width"] > 100
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 900
        # pytest keeps it for inspection
        shot = reader.page.screenshot(path=tmp_path / f"{theme}-{scheme}.png")
        picture.evaluate("picture => { picture.style.visibility = 'hidden' }")
        assert reader.page.screenshot() != shot


@pytest.mark.parametrize("theme", ["furo", "pydata_sphinx_theme"])
def test_diagrams_in_tabs_and_dropdowns_work_once_visible(theme, sites, reader):
    reader.page.goto(f"{(sites / theme).as_uri()}/tabs.html")
    first, second, third, fixed = (reader.page.locator("model-graph").nth(i) for i in range(4))
    assert first.locator("svg.mg-svg").is_visible()
    assert not second.locator("svg.mg-svg").is_visible()
    reader.page.get_by_text("Second", exact=True).click()
    reader.page.get_by_text("More", exact=True).click()
    for diagram in (second, third):
        box = diagram.locator('.mg-canvas [data-id="fc"]').bounding_box()
        assert box["width"] > 40
    assert fixed.locator("svg.mg-svg").bounding_box()["width"] > 100
    assert fixed.locator(".mg-toolbar").count() == 0


def test_reference_to_a_module_reveals_it(sites, reader):
    reader.page.goto(f"{(sites / 'furo').as_uri()}/myst.html")
    reader.page.get_by_role("link", name="fc", exact=True).click()
    details = reader.page.get_by_role("region", name="Details")
    details.wait_for()
    assert "in_features=4" in details.inner_text()
    # browsers open the outline, where the link's anchor is
    reader.page.locator(".mg-outline:not([open])").first.wait_for()
    address = reader.page.url
    reader.page.goto("about:blank")
    reader.page.goto(address)
    details.wait_for()
    reader.page.wait_for_timeout(300)
    assert reader.page.locator(".mg-outline[open]").count() == 0


def test_reference_to_a_module_leads_to_the_outline_without_script(sites, reader_with):
    with reader_with(java_script_enabled=False) as reader:
        reader.page.goto(f"{(sites / 'furo').as_uri()}/myst.html")
        row = reader.page.locator(".mg-outline li:has([data-node=fc])").first
        assert not row.is_visible()
        reader.page.get_by_role("link", name="fc", exact=True).click()
        row.wait_for()


@pytest.mark.zoo
def test_sphinx_immaterial_theme(reader, tmp_path):
    """Not in the development environment because of its size; it has scripts and navigation of its own."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    wanted = ["sphinx-immaterial", "sphinx-design", "myst-parser", "click", "jinja2", "mini-racer", "msgspec", "pyyaml"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], check=True)
    source, out = tmp_path / "source", tmp_path / "out"
    write(source)
    conf = source / "conf.py"
    conf.write_text(conf.read_text() + 'extensions.append("sphinx_immaterial")\nhtml_theme_options = {"font": False}\n')
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("src", "sphinx_ext"))
    command = [python, "-m", "sphinx", "-q", "-W", "-n", "-D", "html_theme=sphinx_immaterial", source, out]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})
    reader.page.goto(f"{out.as_uri()}/tabs.html")
    assert reader.page.locator("model-graph svg.mg-svg").first.bounding_box()["width"] > 100
    reader.page.get_by_text("Second", exact=True).click()
    assert reader.node("fc", 1).bounding_box()["width"] > 40
    reader.page.screenshot(path=tmp_path / "immaterial.png")
