"""Helpers for all rooms: files, versions, installed packages, amounts, and which files are the user's."""
