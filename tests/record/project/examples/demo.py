import sys

import torch
from nets import Block

print(sys.argv[1:])
Block({"in": 8, "out": 4}).eval()(torch.randn(1, 8))
