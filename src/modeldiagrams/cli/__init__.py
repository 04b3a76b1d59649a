"""The command line. Exit status: 0 success, 1 partial trace or change, 2 usage error or failure, 130 interrupted."""

from modeldiagrams.cli.commands import main

__all__ = ["main"]
