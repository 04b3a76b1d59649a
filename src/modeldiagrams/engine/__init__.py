"""From options to a finished diagram: builder, cache and snapshots."""
