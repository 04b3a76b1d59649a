"""What a site can say about all its diagrams: one declaration for all hosts."""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from modeldiagrams.errors import ModelDiagramsError, SettingError
from modeldiagrams.options.options import Limits
from modeldiagrams.options.palette import palette_variables, read_palette
from modeldiagrams.options.parsing import check_defaults
from modeldiagrams.options.wording import expected

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CACHE", "FORGES", "Settings", "parse_settings", "setting_help", "style_rule", "with_repository"]

SNAPSHOTS = "model-graphs"
"""Default folder of snapshots, beside `conf.py` or `mkdocs.yml`."""

CACHE = ".cache/modeldiagrams"
"""Default folder of the cache, in the same place: so all builds of a documentation share it, those of commands too."""

_PROPERTY = re.compile(r"--mg-[a-z0-9-]+")
_UNSAFE_VALUE = re.compile(r"[;{}<>]")

FORGES = {
    "github.com": "{url}/blob/HEAD/{{path}}#L{{line}}",
    "gitlab.com": "{url}/-/blob/HEAD/{{path}}#L{{line}}",
    "bitbucket.org": "{url}/src/HEAD/{{path}}#lines-{{line}}",
}
"""Host → URL of a line of source."""


_Links = str | dict[str, str] | None
"""Without a pattern: with msgspec 0.22 a union of a map and text with a pattern ends the process."""

_URL = re.compile(r"https?://[^\s{}]+")
_TEMPLATE = re.compile(r"https?://\S*\{path\}\S*")


class Settings(Limits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a site; its `Limits` are for diagrams that don't set their own."""

    defaults: Annotated[
        dict[str, Any],
        msgspec.Meta(description="Values for options that a diagram does not set: `{'depth': 1}`."),
    ] = msgspec.field(default_factory=dict)
    on_error: Annotated[
        Literal["warn", "placeholder", "raise"],
        msgspec.Meta(
            description="What happens if a diagram has a problem: a note on the page and a warning (`warn`), the"
            " note alone (`placeholder`), or the end of the build (`raise`)."
        ),
    ] = "warn"
    cache_dir: Annotated[
        str | None,
        msgspec.Meta(
            description="Folder for traced graphs and pictures, relative to the configuration file; several builds may"
            f" share it. By default `{CACHE}`."
        ),
    ] = None
    snapshots: Annotated[
        str,
        msgspec.Meta(
            description="Folder of graphs for builders without PyTorch, relative to the configuration file; see"
            " `modeldiagrams snapshot`."
        ),
    ] = SNAPSHOTS
    static_only: Annotated[
        bool, msgspec.Meta(description="Show all diagrams as pictures; no scripts are added to the site.")
    ] = False
    repository_url: Annotated[
        _Links,
        msgspec.Meta(
            description="The repository of the models on GitHub, GitLab or Bitbucket, for links to lines of source:"
            " `https://github.com/org/project`; or one for each package, `{mypkg: https://github.com/org/project}`.",
        ),
    ] = None
    source_link: Annotated[
        _Links,
        msgspec.Meta(
            description="URL of a line of source, if `repository_url` is not enough:"
            " `https://git.example.org/project/blob/main/{path}#L{line}`, with the path from the repository's root; or"
            " one for each package, `{mypkg: 'https://git.example.org/project/blob/main/src/{path}#L{line}'}`, with"
            " the path that begins with the package.",
        ),
    ] = None
    css_variables: Annotated[
        dict[str, str],
        msgspec.Meta(
            description="CSS custom properties that change how diagrams look:"
            " `{'--mg-hue-linear': 'var(--color-brand-primary)'}`."
        ),
    ] = msgspec.field(default_factory=dict)

    @property
    def variables(self) -> dict[str, str]:
        """All CSS custom properties: those of the palette, unless the site writes others for pages."""
        return palette_variables(read_palette(self.defaults.get("palette"))) | self.css_variables

    @property
    def options(self) -> dict[str, Any]:
        """Values for options that a diagram does not mention."""
        limits = {name: value for name in Limits.__struct_fields__ if (value := getattr(self, name)) is not None}
        return limits | self.defaults


def parse_settings(values: Mapping[str, Any]) -> Settings:
    """Read a site's settings as its host found them.

    Args:
        values: Setting name → value.

    Returns:
        The settings, checked.

    Raises:
        SettingError: naming the first setting that is wrong, and what is expected.
    """
    plain: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _types():
            raise SettingError(name, f"no such setting; expected one of {', '.join(_types())}")
        try:
            # hosts also pass paths, and text from a command line
            text = os.fspath(value) if isinstance(value, os.PathLike) else value
            plain[name] = msgspec.convert(text, _types()[name], strict=False)
        except msgspec.ValidationError as error:
            raise SettingError(
                name, f"expected {expected(_types()[name])}, got {value!r}. {setting_help()[name]}"
            ) from error
    settings = Settings(**plain)
    try:
        check_defaults(settings.defaults)
    except ModelDiagramsError as error:
        raise SettingError("defaults", str(error)) from error
    _check_styles(settings)
    _check_links(settings)
    return settings


def _check_styles(settings: Settings) -> None:
    for name, text in settings.css_variables.items():
        if not _PROPERTY.fullmatch(name):
            raise SettingError("css_variables", f"expected names like '--mg-hue-linear', got {name!r}")
        if _UNSAFE_VALUE.search(text):
            raise SettingError("css_variables", f"expected one CSS value for {name}, got {text!r}")


def _check_links(settings: Settings) -> None:
    for name, pattern in (("repository_url", _URL), ("source_link", _TEMPLATE)):
        for url in _values(getattr(settings, name)):
            if not pattern.fullmatch(url):
                raise SettingError(name, f"got {url!r}. {setting_help()[name]}")
    for url in _values(settings.repository_url):
        host = urlsplit(url).hostname
        if host not in FORGES and not isinstance(settings.source_link, str):
            known = ", ".join(FORGES)
            raise SettingError("repository_url", f"expected one of {known}, got {host}; write `source_link` instead")


def _values(links: _Links) -> list[str]:
    return list(links.values()) if isinstance(links, dict) else [links] if links else []


def with_repository(settings: Settings, url: str | None) -> Settings:
    """The settings, completed by the repository that the site names elsewhere if it is on a known host."""
    if not url or settings.source_link or settings.repository_url:
        return settings
    try:
        return msgspec.structs.replace(settings, repository_url=parse_settings({"repository_url": url}).repository_url)
    except SettingError:
        return settings


@functools.cache
def _types() -> dict[str, Any]:
    """Setting → type, cached because evaluating annotations is slow and hosts parse settings for every diagram."""
    return {field.name: field.type for field in msgspec.structs.fields(Settings)}


def setting_help() -> dict[str, str]:
    """Setting name → its documentation, in the order of declaration."""
    return {
        name: f"Default of the option `{name}`."
        if name in Limits.__struct_fields__
        else get_args(annotated)[1].description
        for name, annotated in _types().items()
    }


def style_rule(variables: Mapping[str, str], selector: str = "model-graph") -> str:
    """CSS custom properties as one rule, to append to the viewer's style sheet."""
    if not variables:
        return ""
    return "".join([f"\n{selector}{{", *(f"{name}:{value};" for name, value in sorted(variables.items())), "}\n"])
