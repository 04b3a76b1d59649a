"""Writes the sources of the pages of catalogues' models, before Sphinx looks for sources.

They are in the source folder, as those of autosummary and sphinx-gallery, because only files there are documents: with
an address from each builder, in search, inventory, references and sitemaps, read in parallel and only when they change.
Pages of the event `html-collect-pages` have none of this, and Sphinx reads no document without a file. A `.gitignore`
keeps them out of the author's commits.
"""

from __future__ import annotations

import posixpath
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from sphinx.util.matching import compile_matchers

from modeldiagrams.hosting.catalogue_pages import (
    MARK,
    format_markdown_page,
    format_rst_page,
    name_pages,
    plan_models,
    write_model_pages,
)
from sphinx_modeldiagrams.builders import makes_page_for_each
from sphinx_modeldiagrams.conf_values import get_settings
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.reporting import DiagramError, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx
    from sphinx.config import Config

    from modeldiagrams.options.catalogue import CatalogueOptions

__all__ = ["write_pages"]

_RST = "restructuredtext"
_HEAD = 200
"""Characters of a file, of which the mark is one of the first."""


def write_pages(app: Sphinx) -> None:
    """Write the sources that have changed, and remove those that no catalogue needs; called by Sphinx."""
    env, domain = app.env, domain_of(app.env)
    env.find_files(app.config, app.builder)  # what an earlier build found may be outdated
    files = {name: Path(env.doc2path(name)) for name in sorted(env.found_docs)}
    texts = {name: file.read_text("utf-8", "replace") for name, file in files.items() if file.is_file()}
    domain.model_pages = {name for name, text in texts.items() if MARK in text[:_HEAD]}
    has_pages = makes_page_for_each(app.builder)
    domain.hidden_pages = set() if has_pages else domain.model_pages
    format_page, suffix = _choose_format(app.config)
    wanted: dict[str, str] = {}
    for docname in texts.keys() - domain.model_pages:
        plan = plan_models(texts[docname], domain.list_models, partial(_warn, app, files[docname]))
        if not plan.is_certain:
            earlier = (page for page in domain.model_pages if posixpath.dirname(page) == docname)
            wanted |= {page: texts[page] for page in earlier}
        if plan.models:
            pages = domain.pages_of[docname] = name_pages(docname, plan.models)
            for model, page in pages.items():
                if not has_pages or _is_excluded(app.config, f"{page}{suffix}"):
                    pages[model] = ""
                elif page in domain.model_pages or page not in texts:  # else its author writes it
                    wanted[page] = format_page(model, plan.models[model], docname)
    if not has_pages:
        return
    try:
        contents = {Path(app.srcdir, f"{page}{suffix}"): text for page, text in wanted.items()}
        write_model_pages(contents, {files[name] for name in domain.model_pages})
    except OSError as error:
        raise DiagramError(
            f"model-catalogue: the page of a model can't be written ({error}). As with autosummary, it is a file in the"
            " source folder: make the folder writable, or build a copy of it"
        ) from error
    domain.model_pages = {*wanted}


def _warn(app: Sphinx, file: Path, message: str, line: int) -> None:
    on_error = get_settings(app.config).on_error
    if on_error == "placeholder" or not makes_page_for_each(app.builder):
        return
    if on_error == "raise":
        raise DiagramError(f"{file}:{line}: {message}")
    warn("catalogue", message, f"{file}:{line}")


def _choose_format(config: Config) -> tuple[Callable[[str, CatalogueOptions, str], str], str]:
    """Choose reStructuredText if the site has it, or else Markdown; return the suffix, too."""
    suffixes = {kind or _RST: suffix for suffix, kind in reversed(config.source_suffix.items())}
    if rst := suffixes.get(_RST):
        return lambda model, options, docname: format_rst_page(model, options, f":doc:`/{docname}`"), rst
    myst = partial(format_markdown_page, fence="{model-graph}")
    return lambda model, options, docname: myst(model, options, f"{{doc}}`/{docname}`"), suffixes.get("markdown", ".md")


def _is_excluded(config: Config, path: str) -> bool:
    tests = compile_matchers(config.exclude_patterns)
    return any(matches(str(part)) for matches in tests for part in (path, *PurePosixPath(path).parents))
