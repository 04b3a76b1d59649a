"""CONTRIBUTING is true: its map names every room, and every path in it exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PACKAGE = ROOT / "src" / "modeldiagrams"


def first_column(title: str) -> list[str]:
    """Cells in the first column of all tables in one section, without the heads."""
    section = TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    heads = {index - 1 for index, row in enumerate(rows) if row.startswith("|---")}
    cells = [row.split("|")[1].strip() for index, row in enumerate(rows) if index not in heads]
    return [cell for cell in cells if not cell.startswith("---")]


def rooms() -> set[str]:
    """Packages, single modules beside them, and folders of the viewer's sources."""
    packages = {file.parent for file in PACKAGE.rglob("__init__.py")} - {PACKAGE}
    modules = {file for file in PACKAGE.glob("*.py") if not file.name.startswith("__")}
    hosts = {file.parent for folder in ("sphinx_ext", "mkdocs_plugin") for file in (ROOT / folder).rglob("__init__.py")}
    viewer = {file.parent for file in (ROOT / "viewer" / "src").rglob("*.ts")}
    return {path.relative_to(ROOT).as_posix() for path in packages | modules | hosts | viewer}


def test_map_names_every_room_once() -> None:
    named = first_column("Rooms")
    assert set(named) == {f"`{room}`" for room in rooms()}
    assert len(named) == len(set(named))


def test_every_path_exists() -> None:
    paths = set(re.findall(r"`((?:src|docs|tests|viewer|sphinx_ext|mkdocs_plugin)/[^`*]*)`", TEXT))
    assert {path for path in paths if not (ROOT / path).exists()} == set()


def test_every_file_of_the_flow_of_inference_exists() -> None:
    section = TEXT.partition("\n## How arguments and inputs are found\n")[2].partition("\n## ")[0]
    files = re.findall(r"[\w/]+\.(?:py|toml|yaml)", section.split("```")[1])
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
