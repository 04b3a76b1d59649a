"""The models of a catalogue, in families."""

import msgspec

from modeldiagrams.ir.figures import Figures
from modeldiagrams.ir.traits import Traits
from modeldiagrams.options.catalogue import CatalogueOptions
from modeldiagrams.options.options import Options

__all__ = ["Catalogue", "CatalogueModel", "Family"]


class CatalogueModel(msgspec.Struct, frozen=True, kw_only=True):
    """One model of a catalogue."""

    name: str
    """The full name with which it was listed: ``torchvision.models.resnet18``."""
    options: Options
    """The options of its diagram."""
    id: str
    """The id of its diagram, and of its files in the site's folder."""
    figures: Figures | None = None
    """None if it has no graph."""
    traits: Traits | None = None
    """The same; by them, families are found."""
    picture: str = ""
    """A small SVG for an ``<img>``, the model at its coarsest reading; "" if it has no graph or it can't be drawn.

    It is transparent. As an ``<img>`` it is dark where the ``color-scheme`` of the element is, which themes set on an
    ancestor; so pages with their own switch only have to set `color-scheme`. It has its natural size, and is made to be
    legible within 240×160 px (``object-fit: contain``).
    """
    since: str = ""
    """The first release with a graph of it; "" if unknown."""
    problem: str = ""
    """Why it has no graph, or only a part of one; one sentence."""
    aliases: tuple[str, ...] = ()
    """Other names in the catalogue with an equal graph; these are no models of their own."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """Models of a class with the same parts and operations, which differ in sizes: one entry of a catalogue."""

    name: str
    """Short name: of its only model, or of the class of all."""
    models: tuple[CatalogueModel, ...]
    """By number of parameters, the smallest first."""
    columns: tuple[str, ...] = ()
    """Titles of what differs between the models; empty for one model."""
    rows: tuple[tuple[str, ...], ...] = ()
    """One for each model: a cell for each column."""


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """The models of a catalogue, in families."""

    id: str
    options: CatalogueOptions
    families: tuple[Family, ...]
    """In the order of their names."""
    problem: str = ""
    """Why there are no models, in one sentence."""
