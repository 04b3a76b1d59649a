"""``python -m benchmarks.vista MODEL FOLDER``: torchvista's page of a model, everything expanded, as a file there."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings

import torchvista

from benchmarks.models import prepared


def main() -> None:
    name, folder = sys.argv[1:]
    model, inputs = prepared(name)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        torchvista.trace_model(
            model,
            tuple(inputs.values()),
            collapse_modules_after_depth=99,
            export_format="html",
            export_path=folder,
        )


if __name__ == "__main__":
    main()
