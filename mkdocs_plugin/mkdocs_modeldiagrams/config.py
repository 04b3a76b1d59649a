"""What stands under ``modeldiagrams:`` in ``mkdocs.yml``."""

from __future__ import annotations

from typing import Any

from mkdocs.config import config_options
from mkdocs.config.base import Config, ValidationError

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.host import check_defaults
from modeldiagrams.snapshots import FOLDER

__all__ = ["PluginConfig"]


class _Defaults(config_options.Type[dict[str, Any]]):
    """Diagram options, checked when the site's configuration is read."""

    def __init__(self) -> None:
        super().__init__(dict, default={})

    def run_validation(self, value: object) -> dict[str, Any]:
        """Called by MkDocs."""
        defaults = super().run_validation(value)
        try:
            check_defaults(defaults)
        except ModelDiagramsError as error:
            raise ValidationError(str(error)) from error
        return defaults


class PluginConfig(Config):  # type: ignore[no-untyped-call]  # MkDocs leaves a hook untyped
    """The plugin's options."""

    cache_dir = config_options.Type(str, default=".cache/modeldiagrams")
    """Where traced graphs are kept, relative to ``mkdocs.yml``; safe to delete, good to keep between CI runs."""

    defaults = _Defaults()
    """Values for diagram options that a fence does not mention: ``defaults: {depth: 1, direction: LR}``."""

    snapshots = config_options.Type(str, default=FOLDER)
    """Where `modeldiagrams snapshot` keeps graphs for builders without torch, relative to ``mkdocs.yml``."""
