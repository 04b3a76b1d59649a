"""A competition: a class as configuration, and a script whose call can be read in part."""

__all__ = ["model.SongNet", "model.SongPair"]
