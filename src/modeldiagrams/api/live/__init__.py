"""A page that follows a recording while a training goes on: `modeldiagrams watch`.

A process of its own that only reads the file: training neither waits for readers nor ends with them. Readers get the
recording reduced, as pages have it, whenever the file has grown, so a large file costs them no more than a small one.
"""
