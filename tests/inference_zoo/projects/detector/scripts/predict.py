import torch
from detector import SIZES, Detector

model = Detector(**SIZES["s"], num_classes=4)
boxes = model([torch.rand(3, 64, 64), torch.rand(3, 64, 64)])
