import json
import sys

from inference_zoo.projects.hard_gestures import model as module_arch


def main(path):
    config = json.load(open(path))
    model = getattr(module_arch, config["arch"]["type"])(**config["arch"]["args"])
    print(model)


if __name__ == "__main__":
    main(sys.argv[1])
