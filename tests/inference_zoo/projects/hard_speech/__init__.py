"""A speech recognizer with a configuration in YAML and a registry."""

__all__ = ["asr.Recognizer", "asr.StreamingEncoder"]
