"""Crops of parcels from satellite series: sets of pixels, dates, geometry; settings in YAML, models by name."""

__all__ = ["models.parcel.ParcelClassifier"]
