"""Renders catalogues as HTML: the table in a page, and the files in the site's folder.

The interface to the browser is the custom element ``<model-catalogue catalogue="<id>" src="<data script>">``. Its
children, a plain table, are what search engines and readers without scripts see; the script shows cards instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from modeldiagrams.html.catalogue_data import build_catalogue_data, name_pictures
from modeldiagrams.html.catalogue_rows import TITLES, break_dots, join_names, list_groups, list_notes
from modeldiagrams.html.fragment import build_data_call
from modeldiagrams.html.packing import pack
from modeldiagrams.html.table_cells import NOTHING
from modeldiagrams.html.templating import load_template
from modeldiagrams.render.assets import find_asset

if TYPE_CHECKING:
    from modeldiagrams.engine.catalogue.entries import Catalogue
    from modeldiagrams.html.catalogue_data import PageOf

__all__ = ["build_catalogue_files", "render_catalogue"]


def render_catalogue(catalogue: Catalogue, *, assets: str, page_of: PageOf, interactive: bool = True) -> str:
    """Render a catalogue for the content of a page.

    Args:
        catalogue: The catalogue; if it has no models, the page says why.
        assets: URL prefix from the page to the site's ``modeldiagrams/`` folder, e.g. ``"../modeldiagrams/"``.
        page_of: Returns the URL of a model's page, relative to this one; None if it has no page.
        interactive: Whether the site has scripts.

    Returns:
        Stylesheet link, ``<model-catalogue>`` and script tag. The script is idempotent.
    """
    return _render(catalogue, assets, page_of, interactive=interactive and bool(catalogue.families))


def build_catalogue_files(
    catalogue: Catalogue, page_of: PageOf, *, back: str, interactive: bool = True
) -> dict[str, bytes]:
    """Build the files of a catalogue in the site's ``modeldiagrams/`` folder: name → content.

    Args:
        catalogue: The catalogue.
        page_of: As in `render_catalogue`.
        back: URL of the page with the catalogue, relative to the folder: ``"../models.html"``.
        interactive: As in `render_catalogue`.

    Raises:
        RenderError: if the viewer has not been built.
    """
    files = {name: svg.encode() for svg, name in name_pictures(catalogue).items()}
    if interactive and catalogue.families:
        data = pack(build_catalogue_data(catalogue, page_of))
        files[f"{catalogue.id}.js"] = build_data_call(catalogue.id, data).encode()
    if sum(len(rows) for _, rows in list_groups(catalogue)) < len(catalogue.families):
        folder = back[: back.rfind("/") + 1]
        body = _render(catalogue, "", lambda model: (page := page_of(model)) and folder + page, back=back)
        css = find_asset("catalogue.css").read_text("utf-8")
        html = load_template("standalone").render(
            title="All models",
            css=Markup(css),  # noqa: S704  our own file
            body=Markup(body),  # noqa: S704  rendered with autoescape
            viewer=None,
        )
        files[f"{catalogue.id}.html"] = html.encode()
    return files


def _render(catalogue: Catalogue, assets: str, page_of: PageOf, *, back: str = "", interactive: bool = False) -> str:
    groups = list_groups(catalogue, whole=bool(back))
    rows = [row for _, found in groups for row in found]
    models, entries = sum(len(family.models) for family in catalogue.families), len(catalogue.families)
    return load_template("catalogue").render(
        catalogue=catalogue,
        label=f"Models of {join_names(catalogue.options.of, most=3)}",
        groups=groups,
        # a column without any value tells nothing
        columns=[title for title in TITLES if any(row.cells.get(title, NOTHING) != NOTHING for row in rows)],
        counts={"models": models, "entries": entries, "shown": len(rows)},
        notes=list_notes(catalogue, rows) if rows else [],
        pictures={svg: quote(name) for svg, name in name_pictures(catalogue).items()},
        assets=assets,
        file=quote(catalogue.id),
        page_of=page_of,
        names=join_names,
        break_dots=break_dots,
        back=back,
        interactive=interactive,
    )
