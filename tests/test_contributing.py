"""CONTRIBUTING is short and true: it names every room, and every path in it exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PACKAGE = ROOT / "src" / "modeldiagrams"
VIEWER = ROOT / "viewer" / "src"


def first_column(title: str) -> list[str]:
    """Cells in the first column of all tables in one section, without the heads."""
    section = TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    heads = {index - 1 for index, row in enumerate(rows) if row.startswith("|---")}
    cells = [row.split("|")[1].strip() for index, row in enumerate(rows) if index not in heads]
    return [cell for cell in cells if not cell.startswith("---")]


def rooms() -> set[str]:
    """Packages, single modules beside them, and folders of the viewer's sources, relative to where they belong."""
    packages = {file.parent for file in PACKAGE.rglob("__init__.py")} - {PACKAGE}
    modules = {file for file in PACKAGE.glob("*.py") if not file.name.startswith("__")}
    hosts = {file.parent for folder in ("sphinx_ext", "mkdocs_plugin") for file in (ROOT / folder).rglob("__init__.py")}
    viewer = {file.parent for file in VIEWER.rglob("*.ts")}
    folders = [(PACKAGE, packages | modules), (ROOT, hosts), (VIEWER, viewer)]
    return {path.relative_to(folder).as_posix() for folder, paths in folders for path in paths}


def named_rooms() -> list[str]:
    """Rooms with a row, and rooms that the row of their outer room names."""
    own = [cell.strip("`") for cell in first_column("Rooms")]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", TEXT, re.MULTILINE)
    return [*own, *(f"{room}/{inner}" for room, job in rows if room in own for inner in re.findall(r"`(\w+)`", job))]


def test_map_names_every_room_once() -> None:
    assert sorted(named_rooms()) == sorted(rooms())


def test_every_path_exists() -> None:
    paths = set(re.findall(r"`([\w-]+/[\w./-]*|\w+\.(?:py|ts))`", TEXT)) - {"config.py", "_strings.ts"}
    assert len(paths) > 50
    assert {path for path in paths if not any((folder / path).exists() for folder in (ROOT, PACKAGE, VIEWER))} == set()


def test_text_is_short() -> None:
    picture = TEXT.partition("\n## From a name to HTML\n")[2].split("```")[1]
    assert len(TEXT.split()) <= 2100
    assert len(picture.strip().splitlines()) <= 25
    assert [line for line in TEXT.splitlines() if line.startswith("|") and len(line) > 200] == []


def test_every_file_of_the_flow_of_inference_exists() -> None:
    section = TEXT.partition("\n## How arguments and inputs are found\n")[2].partition("\n## ")[0]
    files = re.findall(r"\w+\.py", section.split("```")[1])
    owners = (PACKAGE / "resolve", PACKAGE / "resolve" / "strategies")
    assert len(files) > 5
    assert {file for file in files if not any((owner / file).exists() for owner in owners)} == set()


def test_ten_changes_have_an_answer() -> None:
    assert len(first_column("Where to change what")) >= 10


def test_one_sentence_says_everywhere_what_the_package_does() -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["description"]
    files = ("README.md", "docs/pages/index.md", "src/modeldiagrams/__init__.py")
    assert {file for file in files if f"{said}." not in (ROOT / file).read_text("utf-8")} == set()


def test_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = {command.strip("`").removeprefix("make ") for command in first_column("Commands")}
    assert {target for target in targets if f"\n{target}:" not in makefile} == set()


def test_glossary_explains_each_word_once() -> None:
    words = first_column("Glossary")
    assert len(words) == len(set(words))


def test_groups_of_the_documentation_are_short_and_their_first_pages_describe_them() -> None:
    sections = yaml.safe_load((ROOT / "docs" / "mkdocs.yml").read_text("utf-8"))["nav"][1:]
    entries = [entry for section in sections for inner in section.values() for entry in inner]
    groups = [pages for entry in entries if isinstance(entry, dict) for pages in entry.values()]
    for first, *others in groups:
        page = ROOT / "docs" / "pages" / first
        described = {(page.parent / link).resolve() for link in re.findall(r"\]\(([\w./]+)", page.read_text("utf-8"))}
        missing = {other for other in others if (ROOT / "docs" / "pages" / other).resolve() not in described}
        assert missing <= {"examples/gallery.md"}, first  # which is built only on request
        assert len(others) <= 8, first
