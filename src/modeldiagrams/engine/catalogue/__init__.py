"""Catalogues: the models of a library, and what pages say of each."""
