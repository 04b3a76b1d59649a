import sys


def on_post_build(config):
    print("torch is loaded:", "torch" in sys.modules)
