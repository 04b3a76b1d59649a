"""A page that follows a recording while a training goes on: `modeldiagrams watch`.

A process of its own that only reads the file: training neither waits for readers nor ends with them. Readers get the
recording reduced, as pages have it, whenever the file has grown, and the server reads only what is new of it: a large
file costs no more than a small one.
"""
