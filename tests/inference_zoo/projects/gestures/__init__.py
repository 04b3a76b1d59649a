"""Gestures from an armband; ``config.json`` has the architecture."""
