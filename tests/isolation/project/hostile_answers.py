"""Models that reach for the process that answers for them: its pipes, and what it says."""

import contextlib
import io
import os
import sys
from pathlib import Path

from torch import nn

from modeldiagrams.ir.serialize import serialize
from modeldiagrams.worker import answering, tracing

MANY = 5 * 10**7


class Good(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)


def write_to_all_files(text: bytes) -> None:
    for file in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(file, text)


class WritesText(Good):
    def forward(self, x):
        write_to_all_files(b"step 1: loss 0.3\n")
        return super().forward(x)


class WritesZeros(Good):
    def forward(self, x):
        write_to_all_files(bytes(16))
        return super().forward(x)


class WritesALength(Good):
    """And so promises bytes that never come."""

    def forward(self, x):
        write_to_all_files((200_000).to_bytes(8))
        return super().forward(x)


class WritesMuch(Good):
    def forward(self, x):
        write_to_all_files(b"x" * MANY)
        return super().forward(x)


class PrintsMuch(Good):
    def forward(self, x):
        for file in (sys.stdout, sys.stderr):
            file.write("noise " * (MANY // 6))
        os.write(1, b"\xff" * MANY)
        return super().forward(x)


class Answers(Good):
    """Its process answers with another graph."""

    def change(self, graph: bytes) -> object:
        raise NotImplementedError

    def forward(self, x):
        tracing.serialize = lambda graph: self.change(serialize(graph))
        return super().forward(x)


class InvalidJson(Answers):
    def change(self, graph):
        return b"{" + graph


class InvalidText(Answers):
    def change(self, graph):
        return graph.replace(b"Linear", f"{Path.cwd()}/".encode() + b"\xff\xfe")


class HalfAGraph(Answers):
    def change(self, graph):
        return graph[: len(graph) // 2]


class NotANumber(Answers):
    def change(self, graph):
        return graph.replace(b'"shape":[1,4]', b'"shape":[1,NaN]')


class Infinity(Answers):
    def change(self, graph):
        return graph.replace(b'"shape":[1,4]', b'"shape":[1,1e999]')


class WrongType(Answers):
    def change(self, graph):
        return graph.replace(b'"shape":[1,4]', b'"shape":{"rows":1}')


class Deep(Answers):
    def change(self, graph):
        return b"[" * 10**6 + graph


class Refused(Answers):
    """`check` refuses its graph."""

    def change(self, graph):
        return graph.replace(b'"hierarchy":{', b'"hierarchy":{"nowhere":null,')


class Nothing(Answers):
    def change(self, graph):
        return graph[:0]


class NoGraph(Answers):
    def change(self, graph):
        return len(graph)


class HalfAnAnswer(Good):
    def forward(self, x):
        send = answering.send

        def send_half(file, message):
            whole = io.BytesIO()
            send(whole, message)
            file.write(whole.getvalue()[: whole.tell() // 2])
            file.flush()
            os._exit(0)

        answering.send = send_half
        return super().forward(x)


class AnotherAnswer(Good):
    def forward(self, x):
        tracing.find_public_names = lambda _classes: {1: float("nan")}
        return super().forward(x)
