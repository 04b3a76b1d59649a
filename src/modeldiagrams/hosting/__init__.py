"""What every documentation tool needs around the engine."""
