"""Options of a command line in a file of their own, featurizers that say how long features are."""

__all__ = ["model.MoleculeModel", "mpn.MPNEncoder"]
