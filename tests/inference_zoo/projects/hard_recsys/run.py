import json
import sys

from registry import build_from_cfg
from schema import Schema


def main(path):
    with open(path) as file:
        cfg = json.load(file)
    schema = Schema.from_file("configs/schema.json")
    model = build_from_cfg(cfg["model"], schema=schema)
    print(model)


if __name__ == "__main__":
    main(sys.argv[1])
