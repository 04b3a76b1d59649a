"""The file of a recording: frames of checked, compressed bytes. `docs/pages/reference/recording.md` describes it."""
