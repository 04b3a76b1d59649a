"""A build that traces in several threads must not crash."""

from __future__ import annotations

import subprocess
import sys

from samples import PROJECT

FOUR_THREADS = """
import sys, threading
from pathlib import Path
from modeldiagrams.ir.serialize import deserialize

content = Path(sys.argv[1]).read_bytes()
sys.setswitchinterval(1e-6)
together = threading.Barrier(4)

def read():
    together.wait()
    deserialize(content)

threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_read_their_first_graphs_at_once():
    command = [sys.executable, "-c", FOUR_THREADS, PROJECT.parent / "golden" / "in_place.json"]
    for _ in range(4):
        done = subprocess.run(command, check=False, capture_output=True)
        assert done.returncode == 0, done.stderr
