"""``python -m modeldiagrams.record example.py …`` runs a script, or ``-m module``, and records its calls."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from modeldiagrams.record.recorder import Recorder
from modeldiagrams.record.run import current_run


def run_script(words: list[str]) -> None:
    """Run a script as Python does, with these words of its command line."""
    settings = current_run()
    if settings is None or not words:
        sys.exit("expected to be run by `modeldiagrams record -- python example.py`")
    recorder = Recorder(settings)
    is_module = words[0] == "-m"
    sys.argv = words[1:] if is_module else words
    script = words[1] if is_module else Path(os.path.relpath(words[0])).as_posix()
    sys.path[0] = "" if is_module else str(Path(script).absolute().parent)
    try:
        with recorder.running(script, 0):
            if is_module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")
    finally:
        recorder.part({script}, str(Path.cwd())).leave(settings)


run_script(sys.argv[1:])
