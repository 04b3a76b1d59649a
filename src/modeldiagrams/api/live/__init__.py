"""Serves a page that follows a recording during a training: `modeldiagrams watch`.

A separate process reads the file, so the training neither waits for readers nor ends with them. Whenever the file has
grown, readers get the reduced recording, as on pages. The server reads only new data, so large files cost no more than
small ones.
"""
