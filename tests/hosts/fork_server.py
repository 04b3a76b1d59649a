"""Runs documentation tools without importing them again: that takes longer than most of the tests' builds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Self

TIMEOUT = 900

_PROGRAM = f"""
import json, os, signal, sys
{{imports}}
for line in sys.stdin:
    arguments, environment, stdout, stderr = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm({TIMEOUT})
        for number, file in enumerate((os.devnull, stdout, stderr)):
            os.dup2(os.open(file, os.O_RDWR), number)
        os.environ.update(environment)
        sys.exit(main(arguments))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

_IMPORTS = {
    "sphinx": """
import importlib
from sphinx.application import builtin_extensions
from sphinx.cmd.build import main
others = ("sphinx.ext.autosummary", "sphinx.ext.napoleon", "myst_parser", "sphinx_modeldiagrams")
for name in (*builtin_extensions, *others):
    importlib.import_module(name)
""",
    "mkdocs": """
import importlib
from mkdocs.__main__ import cli as main
for name in ("mkdocs.commands.build", "mkdocs_modeldiagrams", "pymdownx.superfences", "pymdownx.extra", "material"):
    importlib.import_module(name)
""",
}


class ForkServer:
    """A process with a documentation tool imported, of which each run is a fork."""

    def __init__(self, module: str) -> None:
        """Start it.

        Args:
            module: The tool's command, as ``python -m`` takes it.
        """
        self._module = module
        command = [sys.executable, "-c", _PROGRAM.format(imports=_IMPORTS[module])]
        self._process = subprocess.Popen(
            command, text=True, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process as process:
            process.stdin.close()

    def run(self, arguments: list[str], *, fresh: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the tool.

        Args:
            arguments: Of its command.
            fresh: Whether to start Python anew, as users do.
            environment: Environment variables.
        """
        if fresh:
            command = [sys.executable, "-m", self._module, *arguments]
            env = _environment(**environment)
            return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=env)
        with tempfile.NamedTemporaryFile("r") as stdout, tempfile.NamedTemporaryFile("r") as stderr:
            print(json.dumps([arguments, environment, stdout.name, stderr.name]), file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(arguments, code, stdout.read(), stderr.read())


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "NO_MKDOCS_2_WARNING": "1", **more}
