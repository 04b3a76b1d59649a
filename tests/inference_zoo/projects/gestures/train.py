import json
import sys

import torch

from inference_zoo.projects.gestures import model as module_arch


def main(path):
    config = json.load(open(path))
    model = getattr(module_arch, config["arch"]["type"])(**config["arch"]["args"])
    print(model(torch.zeros(4, 8, 200)).shape)


if __name__ == "__main__":
    main(sys.argv[1])
