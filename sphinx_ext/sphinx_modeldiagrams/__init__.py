"""Diagrams of PyTorch models in Sphinx: ``extensions = ["sphinx_modeldiagrams"]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.errors import ConfigError

from modeldiagrams import __version__
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.host import check_defaults
from modeldiagrams.snapshots import FOLDER
from sphinx_modeldiagrams.assets import write_data, write_viewer
from sphinx_modeldiagrams.directive import ModelGraphDirective
from sphinx_modeldiagrams.domain import ModelDiagramsDomain, close_maker, outdated_documents
from sphinx_modeldiagrams.html import skip, visit_html
from sphinx_modeldiagrams.links import stay_silent
from sphinx_modeldiagrams.nodes import model_graph
from sphinx_modeldiagrams.transform import OrdinaryNodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

__all__ = ["setup"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Called by Sphinx."""
    app.add_config_value("modeldiagrams_defaults", {}, "env", types=frozenset({dict}))
    app.add_config_value("modeldiagrams_snapshots", FOLDER, "env", types=frozenset({str}))
    app.add_domain(ModelDiagramsDomain)
    app.add_directive("model-graph", ModelGraphDirective)
    hidden = (skip, None)
    app.add_node(model_graph, html=(visit_html, None), latex=hidden, text=hidden, man=hidden, texinfo=hidden)
    app.add_post_transform(OrdinaryNodes)

    app.connect("config-inited", _check_config)
    app.connect("env-get-outdated", outdated_documents)
    app.connect("warn-missing-reference", stay_silent)
    app.connect("html-page-context", write_data)
    app.connect("build-finished", write_viewer)
    app.connect("build-finished", close_maker)
    return {"version": __version__, "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}


def _check_config(_app: Sphinx, config: Config) -> None:
    try:
        check_defaults(config.modeldiagrams_defaults)
    except ModelDiagramsError as error:
        raise ConfigError(f"modeldiagrams_defaults: {error}") from error
