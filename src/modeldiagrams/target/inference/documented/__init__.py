"""What docstrings, comments and annotations say about inputs: they are read, never run, and code overrules them."""
