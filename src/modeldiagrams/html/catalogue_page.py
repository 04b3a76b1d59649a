"""Renders catalogues as HTML: the table in a page, and the files in the site's folder.

The interface to the browser is the custom element ``<model-catalogue catalogue="<id>" src="<data script>">``. Its
children, a plain table, are what search engines and readers without scripts see; the script shows cards instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from modeldiagrams.html.catalogue_data import build_catalogue_data, name_pictures
from modeldiagrams.html.catalogue_rows import COLUMNS, join_names, list_groups, list_notes
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
    pictures = name_pictures(catalogue)
    files = {name: svg.encode() for svg, name in pictures.items()}
    if interactive and catalogue.families:
        data = pack(build_catalogue_data(catalogue, page_of, pictures))
        files[f"{catalogue.id}.js"] = build_data_call(catalogue.id, data).encode()
    if _count_entries(catalogue) < len(catalogue.families):
        folder = back[: back.rfind("/") + 1]
        body = _render(catalogue, "", lambda model: (page := page_of(model)) and folder + page, back=back)
        # follows the reader's system; a page of the site would follow its theme
        css = find_asset("catalogue.css").read_text("utf-8")
        html = load_template("standalone").render(title="All models", css=Markup(css), body=Markup(body), viewer=None)  # noqa: S704  our own file, and rendered with autoescape
        files[f"{catalogue.id}.html"] = html.encode()
    return files


def _count_entries(catalogue: Catalogue) -> int:
    return sum(len(rows) for _, rows in list_groups(catalogue))


def _render(catalogue: Catalogue, assets: str, page_of: PageOf, *, back: str = "", interactive: bool = False) -> str:
    groups = list_groups(catalogue, whole=bool(back))
    rows = [row for _, found in groups for row in found]
    models = sum(len(family.models) for family in catalogue.families)
    entries = len(catalogue.families)
    caption = f"{models:,} models" if models != 1 else "1 model"
    if entries < models:
        caption += f" in {entries:,} {'families' if entries > 1 else 'family'}"
    is_cut = len(rows) < entries
    return load_template("catalogue").render(
        catalogue=catalogue,
        groups=groups,
        columns=[name for name in COLUMNS if any(row.cells.get(name, NOTHING) != NOTHING for row in rows)],
        titles=COLUMNS,
        caption=f"{caption}; the first {len(rows):,} are here" if is_cut else caption,
        rest=f"All {models:,} models in one table" if is_cut else "",
        notes=list_notes(catalogue, rows) if rows else [],
        pictures={svg: quote(name) for svg, name in name_pictures(catalogue).items()},
        assets=assets,
        file=quote(catalogue.id),
        page_of=page_of,
        names=join_names,
        back=back,
        interactive=interactive,
    )
