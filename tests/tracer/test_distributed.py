"""Models of distributed tensors and under FSDP: the same graph as on one process, and the model works on."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.serialize import deserialize
from tracer import distributed_passes

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "tracer.distributed_passes", str(folder), port]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return {file.stem: deserialize(file.read_bytes()) for file in folder.glob("*.json")}


@pytest.mark.parametrize("n_before", [0, 1])
@pytest.mark.parametrize("make", [case.__name__ for case in distributed_passes.CASES])
def test_graph_is_that_of_one_process(graphs, make, n_before):
    alone, graph = graphs["alone"], graphs[f"{make}{n_before}"]
    assert graph.status.state == "complete"
    assert graph.status.unseen == ()
    assert graph == graphs[f"{make}{n_before}-again"]
    assert graph.parameters == alone.parameters
    assert graph.model.flops == alone.model.flops
    modules, expected = ([n for n in one.nodes if isinstance(n, ModuleNode)] for one in (graph, alone))
    assert [(m.id, m.class_, m.parameters, m.flops) for m in modules] == [
        (m.id, m.class_, m.parameters, m.flops) for m in expected
    ]
    flows, expected = ({(c.source, c.target) for c in one.connections(1)} for one in (graph, alone))
    assert flows == expected
    if make == "shard":  # the ops that gather weights are not the model's
        assert graph.adjacency == alone.adjacency
