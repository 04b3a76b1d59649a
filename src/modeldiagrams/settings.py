"""What a site can say about all its diagrams: one declaration, shared by every host."""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from modeldiagrams.errors import ModelDiagramsError, SettingError
from modeldiagrams.host import check_defaults
from modeldiagrams.snapshots import FOLDER as SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORGES", "Settings", "parse_settings", "setting_help", "style_rule", "with_repository"]

_SITE_OPTIONS = ("python", "timeout", "memory")
"""Settings that are the site's value for the option of the same name."""

_PROPERTY = re.compile(r"--mg-[a-z0-9-]+")
_UNFIT_VALUE = re.compile(r"[;{}<>]")

FORGES = {
    "github.com": "{url}/blob/HEAD/{{path}}#L{{line}}",
    "gitlab.com": "{url}/-/blob/HEAD/{{path}}#L{{line}}",
    "bitbucket.org": "{url}/src/HEAD/{{path}}#lines-{{line}}",
}
"""Where lines of source are, by host."""


_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Links = str | dict[str, str] | None
"""Not with patterns: a union of text that has one and a map ends the process, with msgspec 0.22."""

_URL = re.compile(r"https?://[^\s{}]+")
_TEMPLATE = re.compile(r"https?://\S*\{path\}\S*")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a site can say. Documentation, type, default and check of each setting stand here and nowhere else."""

    defaults: Annotated[
        dict[str, Any],
        msgspec.Meta(description="Values for options that a diagram does not mention: `{'depth': 1}`."),
    ] = {}
    on_error: Annotated[
        Literal["warn", "placeholder", "raise"],
        msgspec.Meta(
            description="What happens when a diagram has a problem: a note in the page and a warning (`warn`), the"
            " note alone (`placeholder`), or the end of the build (`raise`)."
        ),
    ] = "warn"
    cache_dir: Annotated[
        str | None,
        msgspec.Meta(
            description="Folder for traced graphs and pictures, relative to the configuration file; several builds may"
            " share it."
        ),
    ] = None
    snapshots: Annotated[
        str,
        msgspec.Meta(
            description="Folder of graphs for builders without PyTorch, relative to the configuration file; see"
            " `modeldiagrams snapshot`."
        ),
    ] = SNAPSHOTS
    python: Annotated[
        str | None, msgspec.Meta(description="The option `python` of diagrams that do not mention it.")
    ] = None
    timeout: Annotated[
        _Positive | None, msgspec.Meta(description="The option `timeout` of diagrams that do not mention it.")
    ] = None
    memory: Annotated[
        _Positive | None, msgspec.Meta(description="The option `memory` of diagrams that do not mention it.")
    ] = None
    static_only: Annotated[
        bool, msgspec.Meta(description="All diagrams are pictures, and the site carries no script of ours.")
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
            description="Where lines of source are, if `repository_url` does not say it:"
            " `https://git.example.org/project/blob/main/{path}#L{line}`, with the path from the repository's root; or"
            " one for each package, `{mypkg: 'https://git.example.org/project/blob/main/src/{path}#L{line}'}`, with the"
            " path that begins with the package.",
        ),
    ] = None
    css_variables: Annotated[
        dict[str, str],
        msgspec.Meta(
            description="CSS custom properties that change how diagrams look:"
            " `{'--mg-hue-linear': 'var(--color-brand-primary)'}`."
        ),
    ] = {}

    @property
    def options(self) -> dict[str, Any]:
        """Values for options that a diagram does not mention."""
        own = {name: value for name in _SITE_OPTIONS if (value := getattr(self, name)) is not None}
        return own | self.defaults


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
            # paths are fine where text is expected, and a command line has nothing but text
            text = os.fspath(value) if isinstance(value, os.PathLike) else value
            plain[name] = msgspec.convert(text, _types()[name], strict=False)
        except msgspec.ValidationError as error:
            raise SettingError(name, f"{error}, got {value!r}. {setting_help()[name]}") from error
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
        if _UNFIT_VALUE.search(text):
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
    """The settings, with the repository that the site names elsewhere if they name none and it is of a known kind."""
    if not url or settings.source_link or settings.repository_url:
        return settings
    try:
        return msgspec.structs.replace(settings, repository_url=parse_settings({"repository_url": url}).repository_url)
    except SettingError:
        return settings


@functools.cache
def _types() -> dict[str, Any]:
    """Evaluating the annotations takes longer than the rest, and hosts ask for the settings at every diagram."""
    return {field.name: field.type for field in msgspec.structs.fields(Settings)}


def setting_help() -> dict[str, str]:
    """Setting name → its documentation, in the order of declaration."""
    schema = msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"]
    return {name: schema[name]["description"] for name in Settings.__struct_fields__}


def style_rule(variables: Mapping[str, str]) -> str:
    """The site's CSS custom properties as one rule, to stand behind the viewer's style sheet."""
    if not variables:
        return ""
    return "".join(["\nmodel-graph{", *(f"{name}:{value};" for name, value in sorted(variables.items())), "}\n"])
