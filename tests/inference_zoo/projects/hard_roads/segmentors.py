from torch import nn
from torch.nn import functional as F

from . import parts  # noqa: F401
from .registry import BACKBONES, HEADS, SEGMENTORS


@SEGMENTORS.register_module()
class RoadSegmentor(nn.Module):
    def __init__(self, backbone, decode_head, auxiliary_head=None, train_cfg=None, test_cfg=None, pretrained=None):
        super().__init__()
        self.backbone = BACKBONES.build(backbone)
        self.decode_head = HEADS.build(decode_head)
        self.auxiliary_head = HEADS.build(auxiliary_head) if auxiliary_head is not None else None
        self.mode = test_cfg["mode"]

    def forward(self, img):
        out = self.decode_head(self.backbone(img))
        if self.mode == "whole":
            out = F.interpolate(out, img.shape[2:])
        return out
