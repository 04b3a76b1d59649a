"""A Hydra project: groups of configurations, interpolations, `_target_`, and nothing in Python that says a number."""

__all__ = ["networks.LandCoverModule", "networks.SpectralUNet"]
