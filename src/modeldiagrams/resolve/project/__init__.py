"""How the project itself makes a model: literal calls in its files, which are read, never run."""
