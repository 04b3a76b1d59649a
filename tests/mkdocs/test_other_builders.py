"""Three builders of Markdown make the same diagrams, each in an environment without the others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from graphs import small_graph
from hosts.environments import environment, listing, make_wheel
from hosts.work_tree import changes, commit
from modeldiagrams.ir.serialize import save

pytestmark = pytest.mark.zoo

ROOT = Path(__file__).parents[2]
CONFIG = """
site_name: fixture
site_url: https://example.org/sub/
repo_url: https://github.com/org/project
nav: [index.md, guide/deep.md]
"""
EXTENSIONS = "admonition, attr_list, pymdownx.superfences, pymdownx.tabbed: {alternate_style: true}"
# PyTorch is not installed beside the other builders
SETTINGS = f"modeldiagrams: {{python: {sys.executable}}}"
WITH_PLUGIN = f"{CONFIG}theme: mkdocs\nmarkdown_extensions: [{EXTENSIONS}]\nplugins: [{SETTINGS}]\n"
WITH_EXTENSION = f"{CONFIG}markdown_extensions: [{EXTENSIONS}, {SETTINGS}]\n"
INDEX = """# Front

```model-graph {#net .wide}
model: net.json
caption: The *net*.
```

A graph file with what it is made of: a traced model.

```model-graph
model: tinymodels.Net
inputs: [1, 4]
depth: 1
```
"""
DEEP = """# Deep

- item

    ```model-graph
    ../net.json
    ```

> quoted
>
> ~~~model-graph
> /net.json
> ~~~

!!! note

    ```model-graph {direction="LR"}
    /net.json
    ```

=== "Tab"

    ```model-graph
    model: /net.json
    expand: ["*"]
    ```
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return make_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    (folder / "docs" / "guide").mkdir(parents=True)
    (folder / "docs" / "index.md").write_text(INDEX)
    (folder / "docs" / "guide" / "deep.md").write_text(DEEP)
    save(small_graph(), folder / "docs" / "net.json")
    models = (ROOT / "tests" / "tinymodels" / "__init__.py").read_text()
    (folder / "tinymodels.py").write_text(models)
    return folder


@pytest.fixture(scope="module")
def by_mkdocs(source, tmp_path_factory) -> dict[str, list[str]]:
    """Page → HTML of its diagrams, as MkDocs has them."""
    out = tmp_path_factory.mktemp("mkdocs")
    (source / "mkdocs.yml").write_text(WITH_PLUGIN)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", source / "mkdocs.yml", "-d", out]
    subprocess.run(command, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    found = figures(out)
    assert [len(diagrams) for diagrams in found.values()] == [2, 4]
    return found


def figures(site: Path) -> dict[str, list[str]]:
    pages = {name: (site / name / "index.html").read_text("utf-8") for name in ("", "guide/deep")}
    return {name: re.findall(r'<figure class="mg-figure.*?</figure>', page, re.DOTALL) for name, page in pages.items()}


def test_properdocs_builds_the_same_diagrams(wheel, source, by_mkdocs, tmp_path):
    python = environment(tmp_path / "venv", wheel, "properdocs", "properdocs-theme-mkdocs", "pymdown-extensions")
    assert not re.search(r"^mkdocs ", listing(python), re.MULTILINE)
    (source / "properdocs.yml").write_text(WITH_PLUGIN)
    command = [python, "-m", "properdocs", "build", "--strict", "-f", source / "properdocs.yml", "-d", tmp_path / "out"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert figures(tmp_path / "out") == by_mkdocs
    assert (tmp_path / "out" / "modeldiagrams" / "index.json").is_file()


@pytest.fixture(scope="module")
def zensical(wheel, source, by_mkdocs, tmp_path_factory) -> Callable[..., str]:  # noqa: ARG001  (MkDocs comes first)
    """Builds the site with Zensical, and returns what it says."""
    python = environment(tmp_path_factory.mktemp("zensical") / "venv", wheel, "zensical")
    (source / "mkdocs.yml").write_text(WITH_EXTENSION)

    def build(*arguments: str) -> str:
        command = [python, "-m", "zensical", "build", "--strict", "-f", source / "mkdocs.yml", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=source)
        assert result.returncode == 0, result.stderr
        return result.stderr

    return build


def test_zensical_builds_the_same_diagrams(zensical, source, by_mkdocs):
    told = zensical("--clean")
    assert "model-graph:" not in told
    assert "modeldiagrams: tracing tinymodels.Net" in told
    # what MkDocs' search asks for, Zensical's does not need
    expected = {page: [each.replace(" data-search-exclude", "") for each in found] for page, found in by_mkdocs.items()}
    assert figures(source / "site") == expected


def test_zensical_keeps_files_of_cached_pages(zensical, source):
    def files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (source / "site" / "modeldiagrams").iterdir()}

    zensical("--clean")
    before = files()
    assert {"index.json", "model-graph.js"} < set(before)
    zensical()
    assert files() == before


def test_zensical_leaves_no_file_in_the_work_tree(zensical, source):
    for folder in ("site", ".cache", "docs/modeldiagrams"):
        shutil.rmtree(source / folder, ignore_errors=True)
    commit(source)
    zensical("--clean")
    assert changes(source) == ""


def test_zensical_links_classes_with_autorefs(zensical, source):
    (source / "mkdocs.yml").write_text(f"{WITH_EXTENSION}plugins: [autorefs]\n")
    index = source / "docs" / "index.md"
    index.write_text(f"{INDEX}\n## Linear {{#torch.nn.Linear}}\n")
    zensical("--clean")
    for page, url in (("index.html", "#torch.nn.Linear"), ("guide/deep/index.html", "../../#torch.nn.Linear")):
        html = (source / "site" / page).read_text("utf-8")
        assert re.search(rf'<a class="autorefs autorefs-internal"[^>]* href="{url}"><code>Linear</code></a>', html)


def test_zensical_has_the_pages_of_models_from_the_second_build_on(zensical, source):
    (source / "mkdocs.yml").write_text(WITH_EXTENSION)
    (source / "docs" / "zoo.md").write_text("# Zoo\n\n```model-catalogue\nof: tinymodels.Net\ninputs: [1, 4]\n```\n")
    assert "1 are missing; run the build again" in zensical("--clean")
    assert "run the build again" not in zensical()
    catalogue = (source / "site" / "zoo" / "index.html").read_text("utf-8")
    assert '<th scope="row"><a href="../zoo/tinymodels.Net/">Net</a>' in catalogue
    for asset in re.findall(r'(?:src|href)="([^"]*modeldiagrams/[^"]*)"', catalogue):
        assert (source / "site" / "zoo" / asset).is_file()
    page = (source / "site" / "zoo" / "tinymodels.Net" / "index.html").read_text("utf-8")
    assert '<model-graph graph="tinymodels.Net-' in page
    assert "<code>tinymodels.Net</code>" in (source / "site" / "search.json").read_text("utf-8")
    assert "https://example.org/sub/zoo/tinymodels.Net/" in (source / "site" / "sitemap.xml").read_text("utf-8")


def test_material_social_cards_work_beside_diagrams(wheel, source, tmp_path):
    python = environment(tmp_path / "venv", wheel, "mkdocs<2", "mkdocs-material[imaging]", "pymdown-extensions")
    fonts = tmp_path / "cards" / "fonts" / "Inter"
    fonts.mkdir(parents=True)
    # the plugin fetches what is not there
    for name, style in (("regular", "Regular"), ("semibold", "Bold")):
        shutil.copy(ROOT / "src" / "modeldiagrams" / "render" / "static" / f"inter-{name}.ttf", fonts / f"{style}.ttf")
    cards = f"social: {{cache_dir: {fonts.parents[1]}, cards_layout_options: {{font_family: Inter}}}}"
    config = WITH_PLUGIN.replace("theme: mkdocs", "theme: {name: material, font: false}")
    (source / "social.yml").write_text(config.replace("plugins: [", f"plugins: [{cards}, "))
    out = tmp_path / "out"
    command = [python, "-m", "mkdocs", "build", "--strict", "-q", "-f", source / "social.yml", "-d", out]
    subprocess.run(command, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert [len(diagrams) for diagrams in figures(out).values()] == [2, 4]
    assert (out / "assets" / "images" / "social" / "guide" / "deep.png").read_bytes().startswith(b"\x89PNG")
    assert "https://example.org/sub/assets/images/social/index.png" in (out / "index.html").read_text("utf-8")


def test_zensical_draws_the_classes_that_mkdocstrings_documents(wheel, source, tmp_path):
    """With the lines of the page about Zensical."""
    page = (ROOT / "docs" / "pages" / "howto" / "zensical.md").read_text("utf-8")
    (lines,) = re.findall(r"```yaml\n(    plugins:\n.*?)```", page, re.DOTALL)
    python = environment(tmp_path / "venv", wheel, "zensical", "mkdocstrings-python", "pymdown-extensions")
    site = tmp_path / "documented"
    (site / "docs").mkdir(parents=True)
    (site / "docs" / "index.md").write_text("# Models\n\n::: tinymodels.Net\n")
    shutil.copy(source / "tinymodels.py", site)
    extensions = f"markdown_extensions: [{EXTENSIONS}, {SETTINGS}]\n"
    plugins = textwrap.dedent(lines).replace("mypkg.models.*", "tinymodels.*")
    plugins = plugins.replace("python:\n", "python:\n          paths: [.]\n", 1)
    (site / "mkdocs.yml").write_text(f"site_name: documented\nnav: [index.md]\n{extensions}{plugins}")
    command = [python, "-m", "zensical", "build", "--clean", "-f", "mkdocs.yml"]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '<model-graph graph="tinymodels.Net' in (site / "site" / "index.html").read_text("utf-8")
