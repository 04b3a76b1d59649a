"""Reads what authors write for `model-catalogue`; `find_catalogues` of `mentions` finds it in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.catalogue import CatalogueOptions, read_catalogue
from modeldiagrams.options.reading import read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_catalogue_text"]


def read_catalogue_text(values: Mapping[str, Any], body: str) -> CatalogueOptions:
    """Read the text of a catalogue.

    Args:
        values: Option name → value; `of` is the directive's argument, names separated by spaces or commas.
        body: More options, as YAML (`of: torchvision.models`), or the names alone.

    Raises:
        ModelDiagramsError: for the first mistake; begins with the directive's name.
    """
    try:
        written = read_yaml(body)
        more = written if isinstance(written, dict) else {"of": written} if written else {}
        merged = {**values, **{str(name): value for name, value in more.items()}}
        for name in {"of", "exclude"} & merged.keys():
            if isinstance(merged[name], str):
                merged[name] = ",".join(merged[name].replace(",", " ").split())
        return read_catalogue(merged)
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"model-catalogue: {error}") from error
