"""MkDocs side of what `conf.py` does for Sphinx: the generated reference, and the demo models on the path."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))


def on_config(config: Any) -> None:  # noqa: ARG001  (MkDocs passes it by name)
    """Write the tables the pages include."""
    import reference  # noqa: PLC0415  (found through the line above)

    reference.write()
