"""Documentation in an environment without torch: graph files, snapshots, another interpreter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from graphs import small_graph
from modeldiagrams.ir.serialize import load, save

MODELS = Path(__file__).parent.parent / "tinymodels"
WITHOUT = ("torch", "functorch", "transformers", "nvidia", "triton", "__pycache__")


@pytest.fixture(scope="session")
def bare(tmp_path_factory) -> Path:
    """The interpreter of an environment that has what this one has, but no torch. Nothing is downloaded for it."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    script = "import sysconfig; print(sysconfig.get_path('purelib'))"
    library = Path(subprocess.check_output([python, "-c", script], text=True).strip())
    for file in Path(sysconfig.get_path("purelib")).iterdir():
        if not file.name.startswith(WITHOUT):
            (library / file.name).symlink_to(file)
    assert subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode == 1
    return python


def write_site(folder: Path) -> Path:
    """The same two pages for Sphinx and for MkDocs: a graph file, and a model."""
    shutil.copytree(MODELS, folder / "tinymodels", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "docs").mkdir()
    for place in (folder, folder / "docs"):
        save(small_graph(), place / "net.json")
    (folder / "conf.py").write_text(
        "import sys\nsys.path.insert(0, '.')\nproject = 'x'\nextensions = ['sphinx_modeldiagrams']\n"
        "html_theme = 'basic'\nexclude_patterns = ['docs', 'out*']\n"
    )
    (folder / "index.rst").write_text(
        "Net\n===\n\n.. model-graph:: net.json\n\n.. model-graph:: tinymodels.Net\n   :inputs: [1, 4]\n"
    )
    (folder / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n")
    (folder / "docs" / "index.md").write_text(
        "# Net\n\n```model-graph\nnet.json\n```\n\n```model-graph\nmodel: tinymodels.Net\ninputs: [1, 4]\n```\n"
    )
    return folder


@pytest.fixture
def site(tmp_path) -> Path:
    return write_site(tmp_path)


def run(python: Path, site: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [python, "-m", *words], cwd=site, capture_output=True, text=True, check=False, timeout=900, env=environment
    )


SPHINX = ("sphinx", "-q", "-d", "out.doctrees", ".", "out")
MKDOCS = ("mkdocs", "build", "-d", "out")


@pytest.mark.parametrize("builder", [SPHINX, MKDOCS], ids=["sphinx", "mkdocs"])
def test_without_torch_graph_files_are_drawn_and_models_are_one_warning(bare, site, builder):
    done = run(bare, site, *builder)
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if "model-graph: " in line]
    assert len(warnings) == 1
    assert "tinymodels.Net can't be traced. PyTorch is not installed" in warnings[0]
    assert "`modeldiagrams snapshot`" in warnings[0]
    page = (site / "out" / "index.html").read_text("utf-8")
    assert page.count("<svg") == 1
    assert page.count('class="mg-problem"') == 1


@pytest.fixture(scope="module")
def taken(tmp_path_factory) -> Path:
    """A site with the one snapshot, of the one model, as MkDocs takes it; tests/cli has one that Sphinx took."""
    site = write_site(tmp_path_factory.mktemp("taken") / "site")
    conf = (site / "conf.py").rename(site / "conf.txt")
    save(small_graph(), site / "model-graphs" / "old.json")
    taken = run(sys.executable, site, "modeldiagrams", "snapshot", ".", "--prune")
    assert taken.returncode == 0, taken.stderr
    assert "old.json: no page uses it; removed" in taken.stderr
    (snapshot,) = (site / "model-graphs").iterdir()
    assert taken.stdout.splitlines()[-1].endswith(snapshot.name)
    conf.rename(site / "conf.py")
    return site


@pytest.mark.parametrize("builder", [(*SPHINX, "-W"), (*MKDOCS, "--strict")], ids=["sphinx", "mkdocs"])
def test_snapshots_are_drawn_without_torch(bare, taken, builder):
    done = run(bare, taken, *builder)
    assert done.returncode == 0, done.stderr
    assert (taken / "out" / "index.html").read_text("utf-8").count("<svg") == 2


def test_drift_is_reported_with_torch(taken, tmp_path, tools):
    site = shutil.copytree(taken, tmp_path / "site")
    (snapshot,) = (site / "model-graphs").iterdir()
    model = site / "tinymodels" / "__init__.py"
    model.write_text("# a comment\n# that moves all lines\n" + model.read_text("utf-8"), "utf-8")
    build = ["build", "-f", str(site / "mkdocs.yml"), "-d", str(site / "out")]
    moved = tools["mkdocs"].run([*build, "--strict"])
    assert moved.returncode == 0, moved.stderr
    save(small_graph(), snapshot)
    drifted = tools["mkdocs"].run(build)
    (warning,) = [line for line in drifted.stderr.splitlines() if "model-graph: " in line]
    assert f"the snapshot model-graphs/{snapshot.name} no longer matches the model (breaking: " in warning
    assert (site / "out" / "index.html").read_text("utf-8").count("<svg") == 2
    assert load(snapshot) == small_graph()


def test_another_interpreter_runs_the_models(bare, site):
    (site / "conf.py").write_text(
        (site / "conf.py").read_text() + f"modeldiagrams_defaults = {{'python': {sys.executable!r}}}\n"
    )
    done = run(bare, site, *SPHINX, "-W")
    assert done.returncode == 0, done.stderr
    assert (site / "out" / "index.html").read_text("utf-8").count("<svg") == 2
