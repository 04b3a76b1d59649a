"""A worker process: ``python -m modeldiagrams.worker draw|trace|template``. Only here, user code runs and V8 starts."""

from __future__ import annotations

import socket
import sys
from typing import NoReturn

from modeldiagrams.worker.answering import answer_requests, get_ready, trace_models
from modeldiagrams.worker.template import serve_forks


def main() -> NoReturn:
    """Run the role of the first argument until the documentation process ends."""
    match sys.argv[1:]:
        case ["draw"]:
            from modeldiagrams.worker.drawing import draw  # noqa: PLC0415  (only this process starts V8)

            answer_requests(draw)
        case ["trace"]:
            trace_models(get_ready)
        case ["template", control]:
            serve_forks(socket.socket(fileno=int(control)))
    raise SystemExit(f"expected `draw`, `trace` or `template`, got {sys.argv[1:]}; `modeldiagrams.Worker` starts this")


if __name__ == "__main__":
    main()
