import os
import sys
from pathlib import Path

from modeldiagrams.worker.forks import Forks
from modeldiagrams.worker.process import Process

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


def _tell(class_, method):
    called = getattr(class_, method)

    def told(*arguments, **keywords):
        print("a process is needed")
        return called(*arguments, **keywords)

    setattr(class_, method, told)


_tell(Process, "__init__")
_tell(Forks, "_running")  # tests lend the process that models are forks of


def setup(app):
    app.connect("build-finished", _say_whether_torch_is_loaded)


def _say_whether_torch_is_loaded(_app, _exception):
    print("torch is loaded:", "torch" in sys.modules)
