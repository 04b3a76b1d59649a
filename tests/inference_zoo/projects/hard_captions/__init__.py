"""Image captions: a vocabulary that is built from a file, settings in pydantic's manner, a factory for encoders."""

__all__ = ["captioner.Captioner", "captioner.PrefixMapper"]
