"""A library for detection: sizes in a table, a factory, tests with fixtures, a README."""

__all__ = ["detector.Detector", "detector.Tracker", "detector.detector_s"]
