"""A company's forecasts: dataclasses from a JSON file, built by a class method."""

__all__ = ["forecast.Forecaster", "forecast.Nowcaster"]
