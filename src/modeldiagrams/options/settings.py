"""The settings of a site, declared once for all hosts."""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from modeldiagrams.errors import ModelDiagramsError, SettingError
from modeldiagrams.options.options import Limits
from modeldiagrams.options.palette import list_palette_variables, read_palette
from modeldiagrams.options.parsing import check_defaults
from modeldiagrams.options.wording import describe_type

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CACHE", "FORGES", "Settings", "add_repository", "format_style_rule", "list_setting_help", "parse_settings"]

SNAPSHOTS = "model-graphs"
"""Default folder of snapshots, next to `conf.py` or `mkdocs.yml`."""
CALLS = "model-calls.yaml"
"""The file of recorded calls, next to `conf.py` or `mkdocs.yml`."""

CACHE = ".cache/modeldiagrams"
"""Default folder of the cache, also next to them, so that all builds and commands of a documentation share it."""

_PROPERTY = re.compile(r"--mg-[a-z0-9-]+")
_UNSAFE_VALUE = re.compile(r"[;{}<>]")

FORGES = {
    "github.com": "{url}/blob/HEAD/{{path}}#L{{line}}",
    "gitlab.com": "{url}/-/blob/HEAD/{{path}}#L{{line}}",
    "bitbucket.org": "{url}/src/HEAD/{{path}}#lines-{{line}}",
}
"""The URL of a source line, by host."""
_Links = str | dict[str, str] | None
"""Has no pattern, because msgspec 0.22 crashes on a union of a map and a text with a pattern."""

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
            description="What happens if a diagram has a problem: a note on the page and a warning (`warn`), only the"
            " note (`placeholder`), or the end of the build (`raise`)."
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
    catalogue_links: Annotated[
        bool | Literal["all"],
        msgspec.Meta(
            description="Add a link `Diagram` to the API documentation of classes and functions that a catalogue lists;"
            " in Sphinx, `all` adds it also where another page shows the diagram."
        ),
    ] = True
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
        """All CSS custom properties: those of the palette, unless the site overrides them for pages."""
        return list_palette_variables(read_palette(self.defaults.get("palette"))) | self.css_variables

    @property
    def options(self) -> dict[str, Any]:
        """The values of options that a diagram doesn't set."""
        limits = {name: value for name in Limits.__struct_fields__ if (value := getattr(self, name)) is not None}
        return limits | self.defaults


def parse_settings(values: Mapping[str, Any]) -> Settings:
    """Parse a site's settings as its host found them.

    Args:
        values: Values by setting name.

    Returns:
        The checked settings.

    Raises:
        SettingError: for the first invalid setting, with the expected form.
    """
    plain: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _collect_types():
            raise SettingError(name, f"no such setting; expected one of {', '.join(_collect_types())}")
        try:
            # hosts also pass paths, and text from the command line
            text = os.fspath(value) if isinstance(value, os.PathLike) else value
            plain[name] = msgspec.convert(text, _collect_types()[name], strict=False)
        except msgspec.ValidationError as error:
            raise SettingError(
                name, f"expected {describe_type(_collect_types()[name])}, got {value!r}. {list_setting_help()[name]}"
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
        for url in _list_urls(getattr(settings, name)):
            if not pattern.fullmatch(url):
                raise SettingError(name, f"got {url!r}. {list_setting_help()[name]}")
    for url in _list_urls(settings.repository_url):
        host = urlsplit(url).hostname
        if host not in FORGES and not isinstance(settings.source_link, str):
            known = ", ".join(FORGES)
            raise SettingError("repository_url", f"expected one of {known}, got {host}; write `source_link` instead")


def _list_urls(links: _Links) -> list[str]:
    return list(links.values()) if isinstance(links, dict) else [links] if links else []


def add_repository(settings: Settings, url: str | None) -> Settings:
    """Add the repository that the site names elsewhere, if its host is known."""
    if not url or settings.source_link or settings.repository_url:
        return settings
    try:
        return msgspec.structs.replace(settings, repository_url=parse_settings({"repository_url": url}).repository_url)
    except SettingError:
        return settings


@functools.cache
def _collect_types() -> dict[str, Any]:
    """Return types by setting; cached, because evaluating annotations is slow and hosts parse settings often."""
    return {field.name: field.type for field in msgspec.structs.fields(Settings)}


def list_setting_help() -> dict[str, str]:
    """Return the help of all settings by name, in the order of declaration."""
    return {
        name: f"Default of the option `{name}`."
        if name in Limits.__struct_fields__
        else get_args(annotated)[1].description
        for name, annotated in _collect_types().items()
    }


def format_style_rule(variables: Mapping[str, str], selector: str = "model-graph") -> str:
    """Format CSS custom properties as one rule, to append to the viewer's style sheet."""
    if not variables:
        return ""
    return "".join([f"\n{selector}{{", *(f"{name}:{value};" for name, value in sorted(variables.items())), "}\n"])
