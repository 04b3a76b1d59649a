"""What stands in ``conf.py``: ``modeldiagrams_…``, one value for each of the settings that all hosts share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import msgspec
from sphinx.errors import ConfigError

from modeldiagrams.errors import SettingError
from modeldiagrams.settings import Settings, parse_settings

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config, _ConfigRebuild

__all__ = ["add_settings", "check_settings", "settings_of"]

_PREFIX = "modeldiagrams_"

_WITHOUT_READING = frozenset({"cache_dir", "css_variables"})
"""Settings that change nothing of what a page says."""

_parsed: WeakKeyDictionary[Config, tuple[dict[str, Any], Settings]] = WeakKeyDictionary()
"""What was read already: every diagram asks for the settings."""


def add_settings(app: Sphinx) -> None:
    """Declare all values."""
    for field in msgspec.structs.fields(Settings):
        default = {} if field.default is msgspec.NODEFAULT else field.default
        rebuild: _ConfigRebuild = "" if field.name in _WITHOUT_READING else "env"
        # our own check says more than Sphinx's, which would take no path for text
        app.add_config_value(_PREFIX + field.name, default, rebuild, types=Any)
    app.add_config_value(f"{_PREFIX}autodoc", default=False, rebuild="env", types=frozenset({bool, list, tuple}))


def check_settings(_app: Sphinx, config: Config) -> None:
    """Called by Sphinx when ``conf.py`` is read: a mistake there is told once, not for every diagram."""
    settings_of(config)
    chosen = config[f"{_PREFIX}autodoc"]
    is_patterns = isinstance(chosen, list | tuple) and all(isinstance(pattern, str) for pattern in chosen)
    if not isinstance(chosen, bool) and not is_patterns:
        raise ConfigError(
            f"{_PREFIX}autodoc: expected True, False or patterns of class names like ['mypkg.models.*'], got {chosen!r}"
        )


def settings_of(config: Config) -> Settings:
    """The site's settings.

    Raises:
        ConfigError: if one is wrong.
    """
    values = {name: config[_PREFIX + name] for name in Settings.__struct_fields__}
    known = _parsed.get(config)
    if known is None or known[0] != values:
        try:
            known = _parsed[config] = (values, parse_settings(values))
        except SettingError as error:
            raise ConfigError(f"{_PREFIX}{error}") from error
    return known[1]
