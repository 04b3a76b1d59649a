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
        values: Option name → value; the directive's argument is `of`.
        body: More options, as YAML (`of: torchvision.models`), or the names alone.

    Raises:
        ModelDiagramsError: for the first mistake; begins with the directive's name.
    """
    try:
        more = read_yaml(body)
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"model-catalogue: the body: {error}") from error
    named = more if isinstance(more, dict) else {"of": more} if more else {}
    try:
        return read_catalogue({**values, **{str(name): value for name, value in named.items()}})
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"model-catalogue: {error}") from error
