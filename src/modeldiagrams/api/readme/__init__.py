"""Pictures in READMEs and model cards."""
