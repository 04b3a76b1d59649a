"""Catalogues in MkDocs: the pages of models, their addresses, and links from API documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

import pytest
import yaml

from hosts.builders import copy_models
from modeldiagrams.hosting.catalogue_pages import format_markdown_page, name_pages
from modeldiagrams.options.catalogue import read_catalogue

ZOO = "# The zoo\n\n```model-catalogue\nof: [tinymodels.Net, tinymodels.Chatty]\ninputs: [1, 4]\n```\n"
CONFIG = {
    "site_name": "x",
    "site_url": "https://example.org/sub/",
    "nav": ["index.md", {"Guide": ["guide/zoo.md"]}],
    "validation": {"nav": {"omitted_files": "warn"}},
    "plugins": ["search", "modeldiagrams"],
}


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Makes a site with a catalogue: keyword arguments are its configuration, and pages by file."""

    def write(pages: dict[str, str], **config) -> Path:
        folder = tmp_path_factory.mktemp("site") / "source"
        for name, text in {"docs/index.md": "# Front\n", "docs/guide/zoo.md": ZOO, **pages}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        copy_models(folder)
        (folder / "mkdocs.yml").write_text(yaml.safe_dump({**CONFIG, **config}))
        return folder

    return write


def hrefs(page: Path) -> dict[str, str]:
    """Links of the catalogue's table: text → address."""
    table = re.search(r"<model-catalogue.*?</model-catalogue>", page.read_text("utf-8"), re.DOTALL)[0]
    return {text: address for address, text in re.findall(r'<a href="([^"]*)">([^<]*)</a>', table)}


def follow(page: Path, address: str, out: Path) -> Path:
    """The file that a browser opens for a link, in which a slash at the end matters."""
    url = urljoin(f"http://host/{quote(page.relative_to(out).as_posix())}", address)
    return out / unquote(urlsplit(url).path).lstrip("/") / ("index.html" if url.endswith("/") else "")


@pytest.mark.parametrize("folders", [True, False], ids=["folders", "files"])
def test_each_model_has_a_page_outside_the_nav(make, build, tmp_path, folders):
    out = tmp_path / "out"
    places = ["index", "guide/zoo", "guide/part/index", "my part/a zoo"]
    pages = [f"{place}.md" for place in places]
    sources = {"docs/plain.md": "# Plain\n"} | {f"docs/{page}": ZOO for page in pages}
    folder = make(sources, use_directory_urls=folders, nav=[*pages, "plain.md"])
    result = build(folder, out, "--strict")
    assert result.returncode == 0, result.stderr
    end = "/index.html" if folders else ".html"
    for place in places:
        catalogue = out / (f"{place}.html" if place.endswith("index") else f"{place}{end}")
        found = hrefs(catalogue)
        assert set(found) == {"Net", "Chatty"}
        for name, address in found.items():
            page = follow(catalogue, address, out)
            assert page == out / f"{place}/tinymodels.{name}{end}"
            html = page.read_text("utf-8")
            assert f'<model-graph graph="tinymodels.{name}-' in html
            back = re.search(r'<a href="([^"]*)">The zoo</a>', html)[1]
            assert follow(page, back, out) == catalogue
    url = "guide/zoo/tinymodels.Net" + ("/" if folders else ".html")
    assert f"<loc>https://example.org/sub/{url}</loc>" in (out / "sitemap.xml").read_text()
    searched = json.loads((out / "search" / "search_index.json").read_text("utf-8"))["docs"]
    assert any(doc["location"].startswith(url) and "tinymodels.Net" in doc["text"] for doc in searched)
    assert "tinymodels.Net" not in (out / f"plain{end}").read_text("utf-8"), "each page has the navigation"


def test_files_of_catalogues_are_there_only_with_one(make, build, tmp_path):
    folder = make({})
    assert build(folder, tmp_path / "out").returncode == 0
    names = {path.name for path in (tmp_path / "out" / "modeldiagrams").iterdir()}
    assert {"catalogue.js", "catalogue.css"} < names
    assert any(name.endswith(".card.svg") for name in names)
    (folder / "docs" / "guide" / "zoo.md").write_text("# None\n")
    assert build(folder, tmp_path / "out").returncode == 0
    assert not (tmp_path / "out" / "modeldiagrams").exists()
    assert not (tmp_path / "out" / "guide" / "zoo" / "tinymodels.Net").exists()


def test_page_that_an_author_wrote_is_kept(make, build, tmp_path):
    own = {"docs/guide/zoo/tinymodels.Net.md": "# My own words\n"}
    folder = make(own, nav=["index.md", "guide/zoo.md", "guide/zoo/tinymodels.Net.md"])
    result = build(folder, tmp_path / "out", "--strict")
    assert result.returncode == 0, result.stderr
    page = tmp_path / "out" / "guide" / "zoo" / "tinymodels.Net" / "index.html"
    assert "My own words" in page.read_text("utf-8")
    assert hrefs(tmp_path / "out" / "guide" / "zoo" / "index.html")["Net"] == "tinymodels.Net/"


def test_page_that_another_tool_wrote_is_replaced(make, build, tmp_path):
    options = read_catalogue({"of": "tinymodels"})
    left = format_markdown_page("tinymodels.Net", options, "{doc}`/guide/zoo`", fence="{model-graph}")
    folder = make({"docs/guide/zoo/tinymodels.Net.md": left})
    result = build(folder, tmp_path / "out", "--strict")
    assert result.returncode == 0, result.stderr
    page = tmp_path / "out" / "guide" / "zoo" / "tinymodels.Net" / "index.html"
    assert '<model-graph graph="tinymodels.Net-' in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("of: nosuchpkg", "nosuchpkg"),
        ("of: [", "not valid YAML"),
    ],
)
def test_bad_input_is_one_warning_and_the_page_is_built(make, build, tmp_path, body, says):
    folder = make({"docs/guide/zoo.md": f"# Zoo\n\n\n```model-catalogue\n{body}\n```\n"})
    result = build(folder, tmp_path / "out", "--strict")
    assert result.returncode != 0
    (warning,) = [line for line in result.stderr.splitlines() if line.startswith("WARNING")]
    assert "guide/zoo.md:4: model-catalogue: " in warning
    assert says in warning
    html = (tmp_path / "out" / "guide" / "zoo" / "index.html").read_text("utf-8")
    assert says in html


DOCUMENTED = '''"""Models."""
from documented.nets import Net
from documented.nets import make as make_net

def other():
    """Not listed."""
'''
NETS = '''"""Where they are."""
from torch import nn

class Net(nn.Module):
    """A net."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)

def make():
    """Make a net."""
    return Net()
'''
API = "# API\n\n::: documented.Net\n\n::: documented.nets.make\n\n::: documented.other\n"


@pytest.mark.parametrize(
    ("settings", "linked"),
    [
        ({}, ["Net", "make_net"]),
        ({"catalogue_links": False}, []),
        # its diagram is there
        ({"mkdocstrings": ["documented.nets.Net"], "defaults": {"inputs": [1, 4]}}, ["make_net"]),
    ],
)
def test_api_documentation_links_to_the_pages(make, build, tmp_path, settings, linked):
    zoo = ZOO.replace("tinymodels.Net, tinymodels.Chatty", "documented.Net, documented.make_net")
    pages = {"docs/guide/zoo.md": zoo, "docs/ref/api.md": API, "documented/__init__.py": DOCUMENTED}
    plugins = [
        "autorefs",
        {"mkdocstrings": {"handlers": {"python": {"paths": ["."]}}}},
        {"modeldiagrams": settings},
    ]
    nav = ["index.md", "guide/zoo.md", "ref/api.md"]
    folder = make({**pages, "documented/nets.py": NETS}, plugins=plugins, nav=nav)
    result = build(folder, tmp_path / "out", "--strict")
    assert result.returncode == 0, result.stderr
    html = (tmp_path / "out" / "ref" / "api" / "index.html").read_text("utf-8")
    found = re.findall(r'<a href="([^"]*)">Diagram</a>', html)
    addresses = name_pages("guide/zoo", [f"documented.{name}" for name in linked])
    assert found == [f"../../{addresses[f'documented.{name}']}/" for name in linked]


LANGUAGES = """
from pathlib import Path
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

@event_priority(-100)
def on_files(files, config):
    # as mkdocs-static-i18n: only for files on disk, each with another address and an attribute
    for file in files.documentation_pages():
        assert Path(file.abs_src_path).exists()
        moved = File(file.src_uri, config.docs_dir, config.site_dir, True, dest_uri=f"fr/{file.dest_uri}")
        moved.locale = "fr"
        files.remove(file)
        files.append(moved)
    return files

def on_page_context(context, page, config, nav):
    assert page.file.locale == "fr"
"""


def test_models_follow_their_catalogue_into_the_folder_of_a_language(make, build, tmp_path):
    folder = make({"hooks.py": LANGUAGES}, hooks=["hooks.py"])
    result = build(folder, tmp_path / "out", "--strict")
    assert result.returncode == 0, result.stderr
    zoo = tmp_path / "out" / "fr" / "guide" / "zoo"
    assert hrefs(zoo / "index.html")["Net"] == "tinymodels.Net/"
    assert 'href="../">The zoo</a>' in (zoo / "tinymodels.Net" / "index.html").read_text("utf-8")
