"""What all tests share, and which tests `make quick` leaves out."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hosts.fork_server import Tools
from samples import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent

pytest_plugins = ["ending", "tables"]

PROCESS_FOLDERS = frozenset(
    {
        "browser",
        "cli",
        "hosts",
        "isolation",
        "markdown",
        "mkdocs",
        "packaging",
        "pictures",
        "ranks",
        "reproducibility",
        "sphinx",
        "worker",
        "zoo",
    }
)
"""Their tests start a browser, a builder, a worker, another Python or an installation."""

SWEEPS = frozenset(
    {
        "api/test_diff_checkpoints.py",
        "api/test_diff_edits.py",
        "api/test_diff_random_pairs.py",
        "html/test_difference.py",
        "resolve/test_arguments_by_use.py",
        "resolve/test_common_styles_need_no_option.py",
        "resolve/test_failed_conditions_are_read.py",
        "resolve/test_failed_passes_lead_to_inputs.py",
        "resolve/test_models_need_no_option.py",
        "resolve/test_searches_are_bounded.py",
        "tracer/test_long_and_deep_models.py",
        "tracer/test_oracle.py",
        "tracer/test_sensitivity.py",
        "truth/test_true_overlays.py",
        "truth/test_true_pictures.py",
        "watching/test_anomalies.py",
        "watching/test_reading_in_javascript.py",
    }
)
"""Many models, or very large ones, one after the other: searches for inputs and arguments above all."""

SLOWEST_FILES = (
    "browser/test_demo.py",
    "pictures/test_gallery_pictures.py",
    "sphinx/test_sphinx_builds.py",
    "isolation/test_without_torch.py",
    "sphinx/test_sphinx_autodoc.py",
    "packaging/test_pytest_plugin.py",
)
"""They start first, sweeps late, and other files without processes last: no core waits long for another at the end."""

# projects in which models are looked for, or whose tests are recorded
collect_ignore_glob = ["inference_zoo/projects/*", "record/project/*"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files from what the code does now")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Don't import what `-m` leaves out: imports take longer than most tests."""
    return any(f"not {mark}" in config.option.markexpr for mark in _marks(collection_path)) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Don't look for garbage among what is imported, neither now nor while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by where they are, so that no test has to remember it, and put them in an order."""
    for item in items:
        for mark in _marks(item.path):
            item.add_marker(mark)
    items.sort(key=_turn)


def _marks(path: Path) -> set[str]:
    """What a file's tests are, or those of all files in a folder."""
    name = path.relative_to(TESTS).as_posix()
    folder = name.split("/")[0]
    marks = {
        "process": folder in PROCESS_FOLDERS,
        "sweep": name in SWEEPS,
        "zoo": folder == "zoo",
        "browser": folder == "browser",
    }
    return {mark for mark, has in marks.items() if has}


def _turn(item: pytest.Item) -> int:
    """When a test runs; equal numbers keep their order."""
    path = item.path.relative_to(TESTS)
    name = path.as_posix()
    if name in SLOWEST_FILES:
        return SLOWEST_FILES.index(name)
    is_quick = path.parts[0] not in PROCESS_FOLDERS
    return len(SLOWEST_FILES) + is_quick * (1 if name in SWEEPS else 2)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def project(monkeypatch):
    """The folder of the sample project, importable for the time of a test."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(PROJECT)
    yield PROJECT
    for name in set(sys.modules) - before:
        if name.split(".")[0] in {"mypkg", "broken"}:
            del sys.modules[name]


@pytest.fixture(scope="session")
def tools() -> Iterator[Tools]:
    """Sphinx and MkDocs, for all builds of this process."""
    with Tools() as tools:
        yield tools
