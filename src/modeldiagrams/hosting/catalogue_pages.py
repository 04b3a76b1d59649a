"""The pages of a catalogue: one for each model, made before a documentation tool reads its pages."""

from __future__ import annotations

import contextlib
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import msgspec

from modeldiagrams.common.files import write_atomically
from modeldiagrams.engine.catalogue.families import summarise_failures
from modeldiagrams.engine.diagram_ids import CLASS_PATH, make_diagram_id, make_distinct
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.mentions import find_catalogues
from modeldiagrams.hosting.reports import report_error
from modeldiagrams.options.catalogue import read_catalogue_text
from modeldiagrams.options.parsing import parse_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet
    from typing import Any

    from modeldiagrams.engine.catalogue.entries import Catalogue
    from modeldiagrams.engine.catalogue.listing import Listed
    from modeldiagrams.hosting.host_protocol import Host
    from modeldiagrams.options.catalogue import CatalogueOptions

__all__ = [
    "MARK",
    "Planned",
    "format_markdown_page",
    "format_rst_page",
    "name_catalogue",
    "name_pages",
    "plan_models",
    "report_catalogue",
    "write_model_pages",
]

MARK = "Written by modeldiagrams for a catalogue of models; changes are lost."
"""A comment in every page, by which it differs from pages that authors write at the same address."""

_IGNORED = ".gitignore"
_UNUSUAL = re.compile(r"[^A-Za-z0-9_.-]+")


class Planned(msgspec.Struct, frozen=True):
    """What needs pages."""

    models: dict[str, CatalogueOptions]
    """The models of all catalogues on a page, each with the options of the first that lists it."""
    is_certain: bool
    """False if there may be more: a catalogue is not as its author meant it, or something can't be imported now."""


def plan_models(
    text: str, list_models: Callable[[CatalogueOptions], Listed], warn: Callable[[str, int], None]
) -> Planned:
    """Find the models of a page's catalogues, and warn of those whose page shows something else than a catalogue.

    Args:
        text: The page's text.
        list_models: Lists the models of a catalogue.
        warn: Gets a message, and the line of a catalogue.
    """
    found: dict[str, CatalogueOptions] = {}
    is_certain = True
    for values, body, line in find_catalogues(text):
        try:
            options = read_catalogue_text(values, body)
        except ModelDiagramsError:  # reported when the page is converted
            is_certain = False
            continue
        listed = list_models(options)
        is_certain &= not listed.problem
        others = [model for model in listed.models if model in found and _differ(model, found[model], options)]
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            warn(
                f"model-catalogue: an earlier catalogue on this page shows {others[0]}{more} with other options, and"
                " the page of a model has one diagram; put this catalogue on another page",
                line,
            )
        found = dict.fromkeys(listed.models, options) | found
    return Planned(found, is_certain)


def _differ(model: str, *catalogues: CatalogueOptions) -> bool:
    """Whether catalogues show different diagrams of a model."""
    return len({make_diagram_id(options.options_for(model, {})) for options in catalogues}) > 1


def name_pages(page: str, models: Iterable[str]) -> dict[str, str]:
    """Return the addresses of the pages of models, by model.

    An address is the model's name below the catalogue's page, ``models/mypkg.Net``. As in ids of diagrams, a digest
    follows if the name is not written like a class, because some file systems don't distinguish it from a function, or
    has characters that URLs don't like. So an address stays when other models are added, unless it is of a class
    whose name differs from another only in case.

    Args:
        page: The address of the catalogue's page, without suffix: ``models``.
        models: The names of its models.
    """
    found: dict[str, str] = {}
    taken = set[str]()
    for model in sorted(set(models), key=str.swapcase):  # `Net` before `NET`
        name = _UNUSUAL.sub("-", model)
        if name != model or not CLASS_PATH.fullmatch(name) or name.lower() in taken:
            name = make_distinct(name, model)
        taken.add(name.lower())
        found[model] = f"{page}/{name}"
    return found


def name_catalogue(catalogue_id: str, page: str) -> str:
    """Return the id of a catalogue on a page: its data has links that are relative to the page."""
    return make_distinct("catalogue", f"{catalogue_id} {page}")


def format_rst_page(model: str, options: CatalogueOptions, back: str) -> str:
    """Format a model's page in reStructuredText.

    Args:
        model: The model's full name.
        options: Those of the catalogue.
        back: A link to the catalogue in reStructuredText.
    """
    title = _escape(model)
    underline = "".join("==" if east_asian_width(character) in "FW" else "=" for character in title)
    directive = f".. model-graph:: {model}\n\n   {_format_values(options, {})}"
    lines = [f".. {MARK}", ":orphan:", f"{title}\n{underline}", f"``{model}`` in {back}", directive]
    return "\n\n".join(lines) + "\n"


def format_markdown_page(model: str, options: CatalogueOptions, back: str, *, fence: str = "model-graph") -> str:
    """Format a model's page in Markdown.

    Args:
        model: The model's full name.
        options: Those of the catalogue.
        back: A link to the catalogue in Markdown.
        fence: What follows the backticks: ``{model-graph}`` in MyST.
    """
    body = f"```{fence}\n{_format_values(options, {'model': model})}\n```"
    # comments and titles in pages begin with the heading only if it comes first
    head = f"---\n# {MARK}\norphan: true\ntitle: {json.dumps(model)}\n---"
    lines = [head, f"# {_escape(model)}", f"`{model}` in {back}", body]
    return "\n\n".join(lines) + "\n"


def write_model_pages(wanted: Mapping[Path, str], earlier: AbstractSet[Path]) -> None:
    """Write the files of pages among those of authors, with a `.gitignore`, and remove others of earlier builds.

    Args:
        wanted: File → text.
        earlier: Those that earlier builds wrote.
    """
    names = defaultdict[Path, list[str]](list)
    for path in earlier - wanted.keys():
        path.unlink(missing_ok=True)  # another build may run
        names[path.parent] += []
    for path, text in sorted(wanted.items()):
        write_atomically(path, text.encode())
        names[path.parent].append(path.name)
    for folder, own in names.items():
        # not the whole folder, in which authors may have pages, too
        text = "\n".join([f"# {MARK}", *(f"/{name}" for name in (_IGNORED, *own)), ""])
        ignored = folder / _IGNORED
        if not ignored.is_file() or MARK in ignored.read_text("utf-8", "replace"):
            write_atomically(ignored, text.encode()) if own else ignored.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()


def report_catalogue(host: Host, catalogue: Catalogue, place: Any) -> str:
    """Report once what is wrong with a catalogue or its models.

    Args:
        host: The documentation tool.
        catalogue: The catalogue.
        place: Where it is on its page, see `Host.warn`.

    Returns:
        The message; "" if there is nothing to report.
    """
    problem = "; ".join(filter(None, [catalogue.problem, summarise_failures(catalogue)]))
    if not problem or parse_option("nowarn", catalogue.options.values.get("nowarn", False)):
        return ""
    report_error(host, ModelDiagramsError(f"model-catalogue: {problem}"), place, "catalogue")
    return f"model-catalogue: {problem}" if host.settings.on_error == "warn" else ""


def _escape(model: str) -> str:
    return model.rpartition(".")[2].replace("_", r"\_")


def _format_values(options: CatalogueOptions, own: dict[str, str]) -> str:
    """Format the options of a diagram as a line of YAML; the catalogue warns for all its models at once."""
    return json.dumps({**own, **options.values, "nowarn": True}, default=str)
