"""What stands under ``modeldiagrams:`` in ``mkdocs.yml``: the settings that all hosts share, and MkDocs' own."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, cast

from mkdocs.config import config_options
from mkdocs.config.base import BaseConfigOption, Config, ValidationError

from modeldiagrams.errors import SettingError
from modeldiagrams.settings import Settings, parse_settings

__all__ = ["CACHE", "PluginConfig"]

CACHE = ".cache/modeldiagrams"
"""Relative to ``mkdocs.yml``; safe to delete, good to keep between CI runs."""

_DEFAULTS = Settings(cache_dir=CACHE)


T = TypeVar("T")


class _Setting(BaseConfigOption[T]):
    """One of the shared settings, checked when the site's configuration is read."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.default = getattr(_DEFAULTS, name)
        self._setting = name

    def run_validation(self, value: object) -> T:
        """Called by MkDocs."""
        try:
            return cast("T", getattr(parse_settings({self._setting: value}), self._setting))
        except SettingError as error:
            raise ValidationError(str(error).removeprefix(f"{self._setting}: ")) from error


class PluginConfig(Config):  # type: ignore[no-untyped-call]  # MkDocs leaves a hook untyped
    """The plugin's options; those that every host has are documented in `modeldiagrams.settings.Settings`."""

    cache_dir = _Setting[str | None]("cache_dir")
    css_variables = _Setting[dict[str, str]]("css_variables")
    defaults = _Setting[dict[str, Any]]("defaults")
    memory = _Setting[float | None]("memory")
    on_error = _Setting[Literal["warn", "placeholder", "raise"]]("on_error")
    python = _Setting[str | None]("python")
    repository_url = _Setting[str | dict[str, str] | None]("repository_url")
    snapshots = _Setting[str]("snapshots")
    source_link = _Setting[str | dict[str, str] | None]("source_link")
    static_only = _Setting[bool]("static_only")
    timeout = _Setting[float | None]("timeout")

    mkdocstrings = config_options.Type((bool, list), default=False)
    """Whether mkdocstrings' Python classes that are ``nn.Module``s get a diagram: all, or those that patterns like
    ``mypkg.models.*`` name."""

    @property
    def settings(self) -> Settings:
        """What all hosts share."""
        return Settings(**{name: self[name] for name in Settings.__struct_fields__})
