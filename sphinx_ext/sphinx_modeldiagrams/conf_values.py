"""Configuration in ``conf.py``: one value ``modeldiagrams_…`` for each setting that all hosts share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import msgspec
from sphinx.errors import ConfigError

from modeldiagrams.errors import SettingError
from modeldiagrams.options.settings import Settings, parse_settings

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config, _ConfigRebuild

__all__ = ["add_settings", "check_settings", "find_configuration_folder", "get_settings"]

_PREFIX = "modeldiagrams_"

_WITHOUT_READING = frozenset({"cache_dir", "css_variables"})
"""Settings whose change doesn't require reading pages again."""

_parsed: WeakKeyDictionary[Config, tuple[dict[str, Any], Settings]] = WeakKeyDictionary()
"""Parsed settings, because every diagram needs them."""

_folders: WeakKeyDictionary[Config, Path] = WeakKeyDictionary()


def add_settings(app: Sphinx) -> None:
    """Register all values."""
    for field in msgspec.structs.fields(Settings):
        default = {} if field.default is msgspec.NODEFAULT else field.default
        rebuild: _ConfigRebuild = "" if field.name in _WITHOUT_READING else "env"
        # our own check has better messages, and accepts paths
        app.add_config_value(_PREFIX + field.name, default, rebuild, types=Any)
    app.add_config_value(f"{_PREFIX}autodoc", default=False, rebuild="env", types=frozenset({bool, list, tuple}))


def check_settings(app: Sphinx, config: Config) -> None:
    """Check ``conf.py`` once instead of for every diagram; called by Sphinx."""
    _folders[config] = Path(app.confdir)
    get_settings(config)
    chosen = config[f"{_PREFIX}autodoc"]
    is_patterns = isinstance(chosen, list | tuple) and all(isinstance(pattern, str) for pattern in chosen)
    if not isinstance(chosen, bool) and not is_patterns:
        raise ConfigError(
            f"{_PREFIX}autodoc: expected True, False or patterns of class names like ['mypkg.models.*'], got {chosen!r}"
        )


def find_configuration_folder(config: Config) -> Path:
    """Return the folder of ``conf.py``, to which settings are relative; pages may be in another one."""
    return _folders[config]


def get_settings(config: Config) -> Settings:
    """Return the site's settings.

    Raises:
        ConfigError: if one is invalid.
    """
    values = {name: config[_PREFIX + name] for name in Settings.__struct_fields__}
    known = _parsed.get(config)
    if known is None or known[0] != values:
        try:
            known = _parsed[config] = (values, parse_settings(values))
        except SettingError as error:
            raise ConfigError(f"{_PREFIX}{error}") from error
    return known[1]
