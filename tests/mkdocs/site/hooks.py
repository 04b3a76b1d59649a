import sys


def on_post_build(config):  # noqa: ARG001  (MkDocs passes it by name)
    print("torch is loaded:", "torch" in sys.modules)
