import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "fixture"
extensions = ["myst_parser", "sphinx_modeldiagrams"]
html_theme = "basic"
numfig = True
nitpicky = True
latex_documents = [("index", "fixture.tex", "fixture", "nobody", "manual")]
if os.environ.get("FIXTURE_TORCH_OP"):
    import torch

    torch.nn.functional.conv2d(torch.ones(1, 3, 64, 64), torch.ones(8, 3, 3, 3))
if os.environ.get("FIXTURE_SPY"):
    from modeldiagrams.worker.process import Process

    _start = Process.__init__

    def _told(self, *arguments, **keywords):
        print("a process was started")
        _start(self, *arguments, **keywords)

    Process.__init__ = _told


def setup(app):
    app.connect("build-finished", _say_whether_torch_is_loaded)


def _say_whether_torch_is_loaded(_app, _exception):
    print("torch is loaded:", "torch" in sys.modules)
