"""Catalogues inside Zensical: the pages of models are files among the author's."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hosts.work_tree import changes, commit
from modeldiagrams.html import catalogue_rows
from modeldiagrams.markdown import extension
from modeldiagrams.markdown.find_fences import find_title
from zensical_page import Context, convert


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """What was traced once is not traced again."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    return tmp_path


def written(folder: Path) -> set[str]:
    return {path.name for path in (folder / "docs" / "guide" / "zoo").glob("*")}


@pytest.fixture
def zoo(folder, cache, monkeypatch) -> Iterator[Callable[..., str]]:
    """Converts a page with a catalogue in Zensical."""
    monkeypatch.setattr(extension, "CACHE", str(cache))
    monkeypatch.setattr(extension, "_services", extension.Services())
    shutil.copytree(Path(__file__).parents[1] / "tinymodels", folder / "tinymodels")

    def build(*models: str, folders: bool = True) -> str:
        fence = f"```model-catalogue\nof: [{', '.join(models)}]\ninputs: [1, 4]\n```\n" if models else ""
        text = f"# The zoo\n\n{fence}"
        (folder / "docs" / "guide" / "zoo.md").write_text(text)
        url = "guide/zoo/" if folders else "guide/zoo.html"
        return convert(text, Context(folder, url, "guide/zoo.md", folders=folders))

    yield build
    extension._services.close()


def test_zensical_gets_a_file_for_each_model_of_a_catalogue(folder, zoo):
    html = zoo("tinymodels.Net", "tinymodels.Chatty")
    assert 'href="zoo/tinymodels.Net.md"' in html  # from the file: Zensical itself makes URLs fit the page
    page = folder / "docs" / "guide" / "zoo" / "tinymodels.Net.md"
    assert "[The zoo](../zoo.md)" in page.read_text("utf-8")
    assert {"tinymodels.Net.md", "tinymodels.Chatty.md", ".gitignore"} == written(folder)
    commit(folder)
    assert changes(folder) == ""
    before = page.stat().st_mtime_ns
    zoo("tinymodels.Net")
    assert {"tinymodels.Net.md", ".gitignore"} == written(folder)
    assert page.stat().st_mtime_ns == before, "a page that is written again is converted again"
    zoo()
    assert not page.parent.exists()


def test_pages_of_authors_stay(folder, zoo):
    own = folder / "docs" / "guide" / "zoo" / "tinymodels.Net.md"
    own.parent.mkdir()
    own.write_text("# My own\n")
    for models in (["tinymodels.Net", "tinymodels.Chatty"], []):
        zoo(*models)
        assert own.read_text() == "# My own\n"
    assert written(folder) == {"tinymodels.Net.md"}


def test_pages_stay_while_their_models_cannot_be_listed(folder, zoo):
    zoo("tinymodels.Net", "tinymodels.Chatty")
    before = written(folder)
    zoo("tinymodels.Net", "tinymodels.Gone")
    assert written(folder) == before
    assert "/tinymodels.Chatty.md" in (folder / "docs" / "guide" / "zoo" / ".gitignore").read_text()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Our [new] models\n---\n# Other\n", r"Our \[new\] models"),
        ("---\n# title: x\ntags: [a]\n---\n# Models {#id}\n", "Models"),
        ("```sh\n# install\n```\n# Models\n", "Models"),
        ("---\n[\n---\nText\n", ""),
    ],
)
def test_links_back_have_the_title_of_the_page(text, title):
    assert find_title(text) == title


def test_zensical_is_told_to_build_again_if_pages_came_too_late(folder, zoo, capsys):
    zoo("tinymodels.Net", "tinymodels.Chatty")
    (folder / "site" / "guide" / "zoo" / "tinymodels.Net").mkdir(parents=True)
    (folder / "site" / "guide" / "zoo" / "tinymodels.Net" / "index.html").touch()
    extension._services.close()
    assert "so 1 are missing; run the build again" in capsys.readouterr().err


@pytest.mark.parametrize(("folders", "end"), [(True, "/"), (False, ".html")])
def test_page_of_the_whole_table_leads_back_and_to_the_models(folder, zoo, monkeypatch, folders, end):
    monkeypatch.setattr(catalogue_rows, "_MOST_ENTRIES", 1)
    zoo("tinymodels.Net", "tinymodels.Block", folders=folders)
    (whole,) = (folder / "site" / "modeldiagrams").glob("catalogue-*.html")
    found = re.findall(r'<a href="([^"]*)">', whole.read_text("utf-8"))
    pages = ("zoo", "zoo/tinymodels.Net", "zoo/tinymodels.Block")
    assert set(found) == {f"../guide/{page}{end}" for page in pages}
