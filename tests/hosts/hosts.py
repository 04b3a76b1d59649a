"""Sphinx, MkDocs and Python-Markdown behind one interface, which writes and builds the same pages."""

from __future__ import annotations

import logging
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NamedTuple

import markdown
import yaml

from graphs import changed_graph, small_graph
from hosts.builders import Build, copy_models
from modeldiagrams import Recording
from modeldiagrams.ir.serialize import save
from modeldiagrams.markdown import extension
from modeldiagrams.watching.file.records import Anomaly, Key, Loss, Moment, Row, Run
from samples import png

LINE = 6
"""Of the first diagram of every page."""


def training_of_fc() -> Recording:
    """Two steps of the module `fc` of `small_graph`; the second one is no number any more."""
    key = Key("fc", "activation")
    moments = [
        Moment(step=10, rows={key: Row(count=4, min=-1.0, max=2.0, mean=0.5, norm=3.0)}),
        Moment(step=20, rows={key: Row(count=4, bad=1, min=-1.0, max=4.0, mean=1.5, norm=5.0)}),
    ]
    first = Anomaly(step=20, kind="nonfinite", node="fc", what="activation", text="NaN in the output")
    return Recording([Run(step=0, model="mypkg.Net", every=10)], moments, [Loss(10, 0.5), Loss(20, 0.25)], [first])


class Site(NamedTuple):
    """A built site."""

    folder: Path
    urls: dict[str, str]
    """Page → its file."""
    has_failed: bool
    log: str
    """Warnings and errors."""

    def page(self, name: str) -> str:
        return (self.folder / self.urls[name]).read_text("utf-8")

    @property
    def data(self) -> Path:
        return self.folder / "modeldiagrams"


class Host(ABC):
    """A documentation tool."""

    @abstractmethod
    def diagram(self, body: str) -> str:
        """The source of a diagram with these options."""

    @abstractmethod
    def text(self, name: str, *bodies: str) -> str:
        """The source of a page with these diagrams."""

    @abstractmethod
    def location(self, name: str) -> str:
        """How messages name the first diagram of a page."""

    @abstractmethod
    def build(self, source: Path, pages: dict[str, list[str]], **settings: Any) -> Site:
        """Write and build a site.

        Args:
            source: An empty folder.
            pages: Name → bodies of its diagrams.
            settings: The site's.
        """

    def write(self, folder: Path, suffix: str, pages: dict[str, list[str]]) -> None:
        save(small_graph(), folder / "net.json")
        save(changed_graph(), folder / "changed.json")
        (folder / "broken.json").write_text('{"format": "modeldiagrams", "version": "1.0", "nodes": 3}')
        (folder / "map.png").write_bytes(png())
        for name in ("run", "again"):
            training_of_fc().save(folder / f"{name}.mdwatch")
        for name, bodies in pages.items():
            file = folder / f"{name}{suffix}"
            file.parent.mkdir(exist_ok=True)
            file.write_text(self.text(name, *bodies))


def _site(out: Path, pages: Iterable[str], result: CompletedProcess[str], log: str) -> Site:
    if result.returncode:  # a build that fails must say so: some tools print why, others die
        log += f"\nended with {result.returncode}\n{result.stdout}"
    return Site(out, {name: f"{name}.html" for name in pages}, result.returncode != 0, log)


def kind_of(body: str) -> tuple[str, str]:
    """The directive or fence, which may stand before the body: ``model-diff!``; ``raw!`` for source as it is."""
    kind, mark, rest = body.partition("!")
    return (kind, rest) if mark else ("model-graph", body)


class SphinxHost(Host):
    def __init__(self, build: Build) -> None:
        self._build = build

    def diagram(self, body):
        kind, body = kind_of(body)
        if kind == "raw":
            return body
        first = f" {body}" if kind in {"model-changes", "model-history"} else ""
        return f".. {kind}::{first}\n\n{textwrap.indent(body, '   ') if not first else ''}\n"

    def text(self, name, *bodies):
        return "\n".join([name, "=" * len(name), "", "Before.", "", *map(self.diagram, bodies), "After.", ""])

    def location(self, name):
        return f"{name}.rst:{LINE}: WARNING: "

    def build(self, source, pages, **settings):
        copy_models(source)
        self.write(source, ".rst", pages)
        conf = ["import pathlib, sys", "sys.path.insert(0, str(pathlib.Path(__file__).parent))"]
        conf += ['extensions = ["sphinx_modeldiagrams"]', 'html_theme = "basic"', "html_copy_source = False"]
        conf += ['suppress_warnings = ["toc.not_included"]']
        conf += [f"modeldiagrams_{name} = {value!r}" for name, value in settings.items()]
        (source / "conf.py").write_text("\n".join(conf))
        out = source.with_name("out")
        result = self._build(source, out)
        return _site(out, pages, result, result.stderr)


class MkDocsHost(Host):
    def __init__(self, build: Build) -> None:
        self._build = build

    def diagram(self, body):
        kind, body = kind_of(body)
        return body + "\n" if kind == "raw" else f"```{kind}\n{body}\n```\n"

    def text(self, name, *bodies):
        return "\n".join([f"# {name}", "", "Before.", "", "", *map(self.diagram, bodies), "After.", ""])

    def location(self, name):
        return f"{name}.md:{LINE}: "

    def build(self, source, pages, **settings):
        copy_models(source)
        (source / "docs").mkdir()
        self.write(source / "docs", ".md", pages)
        config = {"site_name": "x", "use_directory_urls": False, "plugins": [{"modeldiagrams": settings}]}
        (source / "mkdocs.yml").write_text(yaml.safe_dump(config))
        out = source.with_name("out")
        result = self._build(source, out)
        log = "\n".join(line for line in result.stderr.splitlines() if not line.startswith("INFO"))
        return _site(out, pages, result, log)


class MarkdownHost(MkDocsHost):
    """A program that converts one document after the other, in this process."""

    def __init__(self) -> None:
        """Nothing to start."""

    def location(self, name):
        return f"{name}.html:{LINE}: "

    def build(self, source, pages, **settings):
        copy_models(source)
        self.write(source, ".md", pages)
        out, log = source.with_name("out"), _Log()
        logging.getLogger("modeldiagrams").addHandler(log)
        has_failed = False
        try:
            for name in pages:
                url = f"{name}.html"
                configs = {"folder": str(source), "site_dir": str(out), "page": url, **settings}
                html = markdown.markdown(
                    (source / f"{name}.md").read_text(),
                    extensions=["modeldiagrams"],
                    extension_configs={"modeldiagrams": configs},
                )
                (out / url).parent.mkdir(exist_ok=True, parents=True)
                (out / url).write_text(html, "utf-8")
        except Exception as error:  # noqa: BLE001  (a site that can't be built is what some tests want)
            has_failed = True
            log.lines.append(str(error))
        finally:
            logging.getLogger("modeldiagrams").removeHandler(log)
            extension._services.close()
        return Site(out, {name: f"{name}.html" for name in pages}, has_failed, "\n".join(log.lines))


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record):
        self.lines.append(record.getMessage())
