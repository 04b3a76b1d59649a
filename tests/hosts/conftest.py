"""The hosts, each started once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hosts.builders import mkdocs_build, sphinx_build
from hosts.fork_server import Tools
from hosts.hosts import Host, MarkdownHost, MkDocsHost, Site, SphinxHost

BuildSite = Callable[..., Site]


@pytest.fixture(scope="module", autouse=True)
def _one_template(tools: Tools) -> Iterator[None]:
    with tools.lending():
        yield


@pytest.fixture(scope="session", params=["sphinx", "mkdocs", "markdown"])
def host(request: pytest.FixtureRequest, tools: Tools) -> Host:
    if request.param == "markdown":
        return MarkdownHost()
    server = tools[request.param]
    return SphinxHost(sphinx_build(server)) if request.param == "sphinx" else MkDocsHost(mkdocs_build(server))


@pytest.fixture(scope="session")
def build_site(host: Host, tmp_path_factory: pytest.TempPathFactory) -> BuildSite:
    """Builds a site of pages: name → bodies of its diagrams. What one site has drawn, others find in the cache."""

    def build(pages: dict[str, list[str]], **settings: Any) -> Site:
        source = tmp_path_factory.mktemp("site") / "source"
        source.mkdir()
        cache = str(tmp_path_factory.getbasetemp() / "cache")
        return host.build(source, pages, **{"cache_dir": cache, **settings})

    return build
