"""Renders the fence ``model-catalogue``, and finds the pages that its models need."""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from pymdownx.superfences import SuperFencesException  # type: ignore[import-untyped]

from modeldiagrams.engine.catalogue.build import build_catalogue
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.catalogue_pages import (
    format_markdown_page,
    name_catalogue,
    name_pages,
    plan_models,
    report_catalogue,
)
from modeldiagrams.hosting.reports import report_error
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.html.catalogue_page import build_catalogue_files, render_catalogue
from modeldiagrams.html.escape import html_text
from modeldiagrams.markdown.find_fences import find_title
from modeldiagrams.options.catalogue import read_catalogue_text

if TYPE_CHECKING:
    from modeldiagrams.engine.catalogue.entries import CatalogueModel
    from modeldiagrams.markdown.fence_host import FenceHost

__all__ = ["plan_model_pages", "render_catalogue_fence"]


def plan_model_pages(host: FenceHost, path: str, text: str, address: str) -> tuple[dict[str, tuple[str, str]], bool]:
    """Return the pages that the models of a page need, model → (file, Markdown), and whether that is all.

    Args:
        host: Lists the models, and reports problems.
        path: The page's file, relative to the folder of all pages.
        text: Its Markdown.
        address: The folder of the models' pages.
    """

    def warn(message: str, line: int) -> None:
        report_error(host, ModelDiagramsError(message), line, "catalogue")

    host.path = path  # MkDocs plans all pages before it converts one
    plan = plan_models(text, host.list_models, warn)
    back = f"[{find_title(text) or 'the catalogue'}]({posixpath.relpath(path, address)})"
    pages = {
        model: (f"{page}.md", format_markdown_page(model, plan.models[model], back))
        for model, page in name_pages(address, plan.models).items()
    }
    return pages, plan.is_certain


def render_catalogue_fence(host: FenceHost, body: str, line: int | None) -> str:
    """Render a fence, and report all its problems at once; superfences prints it as code after other exceptions."""
    try:
        return _render(host, body, line)
    except SuperFencesException:
        raise
    except ModelDiagramsError as error:
        report_error(host, error, line, "option")
        return f"<p>{html_text(str(error))}</p>"
    except Exception as error:
        message = f"model-catalogue: {type(error).__name__}: {error}"
        raise SuperFencesException(f"{host.location(line)}{message}") from error


def _render(host: FenceHost, body: str, line: int | None) -> str:
    options = read_catalogue_text({}, body)
    catalogue = build_catalogue(host.builder, options, host.settings.options, host.list_models(options))
    catalogue = msgspec.structs.replace(catalogue, id=name_catalogue(catalogue.id, host.path or host.page or ""))
    report_catalogue(host, catalogue, line)

    def page_of(model: CatalogueModel, *, in_data: bool = False) -> str | None:
        return host.model_page(model.name, in_data=in_data)

    interactive = not host.settings.static_only
    back = f"{posixpath.relpath('.', FOLDER)}/{host.page or ''}"
    host.note_catalogue(
        build_catalogue_files(catalogue, partial(page_of, in_data=True), back=back, interactive=interactive)
    )
    html = render_catalogue(catalogue, assets=host.assets_url(), page_of=page_of, interactive=interactive)
    return f"<div>\n{html}</div>"  # Python-Markdown wraps what begins with a `<link>` in a paragraph
