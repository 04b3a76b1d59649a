"""Finds documents to read again although their sources have not changed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from modeldiagrams.options.settings import CALLS
from sphinx_modeldiagrams.conf_values import find_configuration_folder
from sphinx_modeldiagrams.diagram_node import locate_diagrams
from sphinx_modeldiagrams.domain import domain_of
from sphinx_modeldiagrams.entries import is_outdated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.engine.catalogue.listing import Listed
    from sphinx_modeldiagrams.entries import CatalogueEntry, Entry

__all__ = ["list_outdated_documents"]


def list_outdated_documents(
    _app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return these documents; called by Sphinx."""
    domain = domain_of(env)
    outdated = {*_list_diagrams(env)} | _list_documented(env)
    for names in (added, changed, outdated, env.found_docs):
        # those that the doctrees of another builder have belong to them
        names.difference_update(domain.hidden_pages - env.all_docs.keys())
    return sorted(outdated | _list_catalogues(env, added | changed | removed | outdated))


def _list_documented(env: BuildEnvironment) -> set[str]:
    """List the documents of objects that other catalogues than before list: they link there."""
    domain = domain_of(env)
    new, earlier = {name: sorted(pages) for name, pages in domain.pages_of.items()}, domain.data["listed"]
    domain.data["listed"] = new
    pairs = ({(name, model) for name, models in lists.items() for model in models} for lists in (new, earlier))
    names = {model.rpartition(".")[2] for _, model in set.symmetric_difference(*pairs)}
    objects = env.get_domain("py").data["objects"].items()
    return {found.docname for name, found in objects if name.rpartition(".")[2] in names}


def _list_catalogues(env: BuildEnvironment, touched: set[str]) -> set[str]:
    """List the documents of catalogues with another list, or a model whose document is touched."""
    domain, outdated = domain_of(env), set()
    for docname, entries in domain.catalogues.items():
        pages = domain.pages_of.get(docname, {})
        is_other = any(_has_other_list(entry, domain.lists) for entry in entries)
        if is_other or not touched.isdisjoint(pages.values()) or not locate_diagrams(env, docname).is_dir():
            outdated.add(docname)
    return outdated


def _has_other_list(entry: CatalogueEntry, lists: Mapping[str, Listed]) -> bool:
    listed = lists.get(entry["id"])  # None for one in an included file, which is only found when it is read
    return listed is None or ([*listed.models], listed.problem) != (entry["models"], entry["problem"])


def _list_diagrams(env: BuildEnvironment) -> list[str]:
    """List documents with diagrams that may be different now.

    These have a failed diagram that may succeed now, a diagram made with another version of torch, a library of the
    model, or this package, or one whose file is missing. A failure that would occur again is only reported again, by
    `run_models`. All documents are read again once there is a file of recorded calls; later
    changes of it are those of a dependency.
    """
    domain = domain_of(env)
    entries = itertools.chain.from_iterable(domain.diagrams.values())
    failing = domain.diagram_builder.tracing.failing(entry["failure"] for entry in entries if entry["failure"])
    had_calls = domain.data["has_calls"]
    domain.data["has_calls"] = (find_configuration_folder(env.config) / CALLS).is_file()
    if domain.data["has_calls"] and not had_calls:
        return sorted(domain.diagrams)
    return sorted(
        name
        for name, entries in domain.diagrams.items()
        if any(is_outdated(entry, failing) for entry in entries)
        or (_shows(entries) and not locate_diagrams(env, name).is_dir())
    )


def _shows(entries: Iterable[Entry]) -> bool:
    return any(entry["location"]["anchor"] for entry in entries)
