"""Measures what diagrams cost a documentation build: forty pages with one each, cold and warm, and without any."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measure import as_installed

PAGES = 40
ROUNDS = 5
BUDGET_MS = 5
"""Per diagram in a warm build."""
FEW_PAGES = 20
FAILING = (
    "net.Missing",
    "net.Raises\n   :inputs: [1, 8]",
    "net.Refuses\n   :inputs: [1, 8]",
    "net.Ends\n   :inputs: [1, 8]",
    "net.Hangs\n   :inputs: [1, 8]\n   :timeout: 1",
)

_MODEL = """
import os
import time

from torch import nn


class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(depth)])

    def forward(self, x):
        return x + self.layers(x)

class Raises(nn.Linear):
    def __init__(self):
        super().__init__(8, 8)

    def forward(self, x):
        raise ValueError("no")


class Refuses(Raises):
    def __init__(self):
        raise ValueError("no")


class Ends(Raises):
    def forward(self, x):
        os._exit(1)


class Hangs(Raises):
    def forward(self, x):
        time.sleep(60)
"""

# counts started processes in the file named by the environment variable
_COUNT = """
import os
from modeldiagrams.worker import process

start = process.Process.__init__


def counted(self, *args, **kwargs):
    with open(os.environ["STARTS"], "a") as file:
        file.write("started\\n")
    start(self, *args, **kwargs)


process.Process.__init__ = counted
"""


def main() -> None:
    """Print one row per builder."""
    print(f"\nsite of {PAGES} pages, one model each: CPU time, warm as median of {ROUNDS}, budget {BUDGET_MS} ms")
    print(f"{'builder':10}{'plain s':>10}{'cold s':>10}{'starts':>8}{'warm s':>10}{'starts':>8}{'ms/diagram':>12}")
    for name, build in (("Sphinx", _sphinx), ("Sphinx -E", _sphinx_anew), ("MkDocs", _mkdocs)):
        with tempfile.TemporaryDirectory() as folder:
            _measure(name, build, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        _measure_failures(Path(folder))


def _measure_failures(folder: Path) -> None:
    """Print the cost of a second build, with and without failing diagrams."""
    sites = {"all succeed": folder / "good", f"{len(FAILING)} fail": folder / "bad"}
    _write(folder / "good", with_models=True, pages=FEW_PAGES - len(FAILING))
    _write(folder / "bad", with_models=True, pages=FEW_PAGES - len(FAILING), failing=FAILING)
    for site in sites.values():
        _sphinx_lenient(site)
    rounds = [{name: _timed(_sphinx_lenient, site) for name, site in sites.items()} for _ in range(ROUNDS)]
    print(f"\nsecond build of a site with {FEW_PAGES} diagrams (Sphinx): CPU time, median of {ROUNDS}")
    for name in sites:
        seconds = statistics.median(row[name][0] for row in rounds)
        print(f"{name:16}{seconds:8.2f} s {sum(row[name][1] for row in rounds):4} processes started")


def _measure(name: str, build: Callable[[Path], None], folder: Path) -> None:
    for kind in ("plain", "models"):
        _write(folder / kind, with_models=kind == "models")
    build(folder / "plain")  # compiles bytecode and fills the system's file cache
    cold, cold_starts = _timed(build, folder / "models")
    rounds = [(_timed(build, folder / "plain")[0], *_timed(build, folder / "models")) for _ in range(ROUNDS)]
    plain, warm = (statistics.median(row[i] for row in rounds) for i in (0, 1))
    each = statistics.median(row[1] - row[0] for row in rounds) / PAGES * 1000
    starts = sum(row[2] for row in rounds)
    print(f"{name:10}{plain:10.2f}{cold:10.2f}{cold_starts:8}{warm:10.2f}{starts:8}{each:12.1f}")


def _timed(build: Callable[[Path], None], site: Path) -> tuple[float, int]:
    """Return the CPU seconds of a build with all its processes, and the number of tracing processes."""
    starts = site / "starts"
    starts.write_text("")
    before = os.times()
    build(site)
    after = os.times()
    seconds = after.children_user - before.children_user + after.children_system - before.children_system
    return seconds, len(starts.read_text().splitlines())


def _sphinx(site: Path) -> None:
    _run(site, "sphinx", "-q", "-W", "-d", "doctrees", ".", "out")


def _sphinx_anew(site: Path) -> None:
    """Read and resolve every page again, as if all had been edited; traces are kept."""
    _run(site, "sphinx", "-q", "-W", "-E", "-d", "doctrees", ".", "out")


def _sphinx_lenient(site: Path) -> None:
    """Build again as after an edit, without turning warnings into errors."""
    (site / "index.rst").touch()
    _run(site, "sphinx", "-Q", "-d", "doctrees", ".", "out")


def _mkdocs(site: Path) -> None:
    _run(site, "mkdocs", "build", "-q", "--strict", "-d", "out")


def _run(site: Path, *words: str) -> None:
    environment = {**as_installed(), "STARTS": str(site / "starts"), "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([sys.executable, "-m", *words], cwd=site, check=True, env=environment)  # noqa: S603


def _write(site: Path, *, with_models: bool, pages: int = PAGES, failing: Sequence[str] = ()) -> None:
    docs = site / "docs"
    docs.mkdir(parents=True)
    # a class for every page, because two diagrams of one class would be duplicate descriptions
    (site / "net.py").write_text(_MODEL + "".join(f"\n\nclass Net{n}(Net):\n    pass\n" for n in range(pages)))
    (site / "count.py").write_text(_COUNT)
    (site / "conf.py").write_text(
        "import sys\nsys.path.insert(0, '.')\nimport count\nextensions = ['sphinx_modeldiagrams']\n"
        "html_theme = 'basic'\nexclude_patterns = ['out', 'docs', 'doctrees']\n"
    )
    (site / "mkdocs.yml").write_text("site_name: x\ntheme: mkdocs\nplugins: [modeldiagrams]\nhooks: [count.py]\n")
    names = [f"page{number}" for number in range(pages)]
    for number, name in enumerate(names):
        options = {"inputs": "[1, 8]", "args": f"[{1 + number % 20}]", "depth": number // 20}
        fields = "".join(f"   :{key}: {value}\n" for key, value in options.items())
        lines = "".join(f"{key}: {value}\n" for key, value in options.items())
        directive = f".. model-graph:: net.Net{number}\n{fields}" if with_models else ""
        fence = f"```model-graph\nmodel: net.Net{number}\n{lines}```\n" if with_models else ""
        (site / f"{name}.rst").write_text(f"{name}\n======\n\n{directive}")
        (docs / f"{name}.md").write_text(f"# {name}\n\n{fence}")
    for number, words in enumerate(failing):
        names.append(f"failing{number}")
        (site / f"failing{number}.rst").write_text(f"{number}\n=\n\n.. model-graph:: {words}\n")
    (site / "index.rst").write_text("Index\n=====\n\n.. toctree::\n\n" + "".join(f"   {name}\n" for name in names))
    (docs / "index.md").write_text("# Index\n")
