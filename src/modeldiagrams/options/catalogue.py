"""Reads what authors write for `model-catalogue`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.options.options import Options, is_graph_file
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.options.reading import read_patterns, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CatalogueOptions", "GroupBy", "read_catalogue", "read_catalogue_text"]

GroupBy = Literal["family", "module", "none"]


class CatalogueOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a catalogue lists, and how."""

    of: Annotated[
        tuple[str, ...],
        Meta(
            description="The models: packages, modules, names, or patterns of names, `[torchvision.models,"
            " 'mypkg.*Net']`."
        ),
    ]
    exclude: Annotated[tuple[str, ...], Meta(description="Patterns of names to leave out, `['*_quantized']`.")] = ()
    group_by: Annotated[
        GroupBy,
        Meta(description="How cards are grouped: `family` (models of one design), `module` that defines them, `none`."),
    ] = "family"
    values: dict[str, Any] = {}
    """Options of all diagrams, by name."""

    def options_for(self, model: str, defaults: Mapping[str, Any]) -> Options:
        """Return the options of one model's diagram, completed by the site's values.

        Raises:
            OptionError: for the first invalid option.
        """
        return parse_options({**self.values, "model": model}, defaults)


_OWN = {"of": "of", "exclude": "exclude", "group-by": "group_by"}
_NOT_SHARED = ("model", "name", "caption", "alt", "steps", "before", "after", "recording", "cases")


def read_catalogue(values: Mapping[str, Any]) -> CatalogueOptions:
    """Read the options of a catalogue.

    Args:
        values: Option name → value: `of`, `exclude`, `group-by`; all others are options of every diagram. Names in text
            are separated by spaces or commas.

    Raises:
        OptionError: for the first invalid option.
    """
    own = {field: values[name] for name, field in _OWN.items() if values.get(name) is not None}
    shared = {name: value for name, value in values.items() if name not in _OWN}
    for name in {"of", "exclude"} & own.keys():
        own[name] = _read_names(name, own[name])
    if not own.get("of"):
        raise OptionError("of", "missing: expected a package, a module, or names of models (`torchvision.models`)")
    for name in own["of"]:
        if is_graph_file(name):
            raise OptionError("of", f"expected names of Python objects, got the file {name}")
    if own.get("group_by", "none") not in GroupBy.__args__:  # type: ignore[attr-defined]  # a Literal has them
        raise OptionError("group-by", f"expected `family`, `module` or `none`, got {own['group_by']!r}")
    for name in _NOT_SHARED:
        if name in shared:
            raise OptionError(name, "belongs to one diagram, and a catalogue has many")
    found = CatalogueOptions(**own, values=shared)
    found.options_for("mypkg.Model", {})  # reports invalid options once
    return found


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


def _read_names(option: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = read_patterns(",".join(value.replace(",", " ").split()))
    try:
        return tuple(msgspec.convert(value, list[str]))
    except msgspec.ValidationError as error:
        raise OptionError(option, f"expected names, `[torchvision.models, 'mypkg.*Net']`, got {value!r}") from error
