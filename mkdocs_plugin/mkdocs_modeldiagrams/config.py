"""Configuration under ``modeldiagrams:`` in ``mkdocs.yml``: the settings that all hosts share, and MkDocs' own."""

from __future__ import annotations

from typing import Any

from mkdocs.config import config_options
from mkdocs.config.base import BaseConfigOption, Config, ValidationError

from modeldiagrams.errors import SettingError
from modeldiagrams.options.settings import Settings, parse_settings

__all__ = ["PluginConfig"]


class _Setting(BaseConfigOption[Any]):
    """One of the shared settings, checked when the site's configuration is read."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.default = getattr(Settings(), name)
        self._setting = name

    def run_validation(self, value: object) -> Any:
        """Check the value; called by MkDocs."""
        try:
            return getattr(parse_settings({self._setting: value}), self._setting)
        except SettingError as error:
            raise ValidationError(str(error).removeprefix(f"{self._setting}: ")) from error


_SharedConfig: Any = type("_SharedConfig", (Config,), {name: _Setting(name) for name in Settings.__struct_fields__})


class PluginConfig(_SharedConfig):  # type: ignore[misc]  # made from `Settings`
    """The plugin's options; those shared by all hosts are documented in `modeldiagrams.options.settings.Settings`."""

    mkdocstrings = config_options.Type((bool, list), default=False)
    """Whether ``nn.Module`` classes documented by mkdocstrings get a diagram: all, or only those that match patterns
    like ``mypkg.models.*``."""

    search_paths = config_options.ListOfItems(config_options.Dir(exists=True), default=[])
    """Folders to import models from, besides that of ``mkdocs.yml``, to which they are relative: ``[../src]``."""

    @property
    def settings(self) -> Settings:
        """The settings shared by all hosts."""
        return Settings(**{name: self[name] for name in Settings.__struct_fields__})
