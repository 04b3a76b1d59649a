"""``python -m modeldiagrams.record example.py …`` runs a script, or ``-m module``, and records its calls."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from modeldiagrams.record.run import begin, in_environment, leave_part


def main(words: list[str]) -> None:
    """Run a script as Python does.

    Args:
        words: Of the command line after `python`.
    """
    settings = in_environment()
    if settings is None or not words:
        sys.exit("expected to be run by `modeldiagrams record -- python example.py`")
    recorder = begin(settings)
    is_module = words[0] == "-m"
    sys.argv = words[1:] if is_module else words
    script = words[1] if is_module else os.path.relpath(words[0])
    sys.path[0] = "" if is_module else str(Path(script).absolute().parent)
    try:
        with recorder.running(Path(script).as_posix(), 0):
            if is_module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")
    finally:
        leave_part(settings, recorder, {Path(script).as_posix()})


main(sys.argv[1:])
