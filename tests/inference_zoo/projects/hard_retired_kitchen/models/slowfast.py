"""Video models."""

import torch
from torch import nn

from .build import MODEL_REGISTRY, TRANS_REGISTRY

# Number of blocks for different stages given the model depth.
_MODEL_STAGE_DEPTH = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}

# Basis of temporal kernel sizes for each of the stage.
_TEMPORAL_KERNEL_BASIS = {
    "slowfast": [
        [[1], [5]],  # conv1 temporal kernel for slow and fast pathway.
        [[1], [3]],  # res2 temporal kernel for slow and fast pathway.
        [[1], [3]],  # res3 temporal kernel for slow and fast pathway.
        [[3], [3]],  # res4 temporal kernel for slow and fast pathway.
        [[3], [3]],  # res5 temporal kernel for slow and fast pathway.
    ],
}


@TRANS_REGISTRY.register()
class bottleneck_transform(nn.Module):
    """
    Bottleneck transformation: Tx1x1, 1x3x3, 1x1x1, where T is the size of temporal kernel.
    """

    def __init__(self, dim_in, dim_out, temp_kernel_size, stride, dim_inner, num_groups):
        super().__init__()
        t = temp_kernel_size
        self.a = nn.Conv3d(dim_in, dim_inner, (t, 1, 1), padding=(t // 2, 0, 0), bias=False)
        self.a_bn = nn.BatchNorm3d(dim_inner)
        self.b = nn.Conv3d(
            dim_inner, dim_inner, (1, 3, 3), (1, stride, stride), (0, 1, 1), groups=num_groups, bias=False
        )
        self.b_bn = nn.BatchNorm3d(dim_inner)
        self.c = nn.Conv3d(dim_inner, dim_out, 1, bias=False)
        self.c_bn = nn.BatchNorm3d(dim_out)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu(self.a_bn(self.a(x)))
        x = self.relu(self.b_bn(self.b(x)))
        return self.c_bn(self.c(x))


@TRANS_REGISTRY.register()
class basic_transform(nn.Module):
    def __init__(self, dim_in, dim_out, temp_kernel_size, stride, dim_inner=None, num_groups=1):
        super().__init__()
        t = temp_kernel_size
        self.a = nn.Conv3d(dim_in, dim_out, (t, 3, 3), (1, stride, stride), (t // 2, 1, 1), bias=False)
        self.a_bn = nn.BatchNorm3d(dim_out)
        self.b = nn.Conv3d(dim_out, dim_out, (1, 3, 3), padding=(0, 1, 1), bias=False)
        self.b_bn = nn.BatchNorm3d(dim_out)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.b_bn(self.b(self.relu(self.a_bn(self.a(x)))))


class ResBlock(nn.Module):
    def __init__(self, dim_in, dim_out, temp_kernel_size, stride, trans_func, dim_inner, num_groups):
        super().__init__()
        # Use skip connection with projection if dim or res change.
        if dim_in != dim_out or stride != 1:
            self.branch1 = nn.Conv3d(dim_in, dim_out, 1, (1, stride, stride), bias=False)
            self.branch1_bn = nn.BatchNorm3d(dim_out)
        self.branch2 = trans_func(dim_in, dim_out, temp_kernel_size, stride, dim_inner, num_groups)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        skip = self.branch1_bn(self.branch1(x)) if hasattr(self, "branch1") else x
        return self.relu(skip + self.branch2(x))


class VideoModelStem(nn.Module):
    """
    Spatiotemporal convolution, BN, ReLU and pooling on every pathway.
    """

    def __init__(self, dim_in, dim_out, kernel):
        super().__init__()
        self.num_pathways = len(dim_in)
        for pathway in range(self.num_pathways):
            t = kernel[pathway]
            stem = nn.Sequential(
                nn.Conv3d(dim_in[pathway], dim_out[pathway], (t, 7, 7), (1, 2, 2), (t // 2, 3, 3), bias=False),
                nn.BatchNorm3d(dim_out[pathway]),
                nn.ReLU(True),
                nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)),
            )
            self.add_module(f"pathway{pathway}_stem", stem)

    def forward(self, x):
        assert len(x) == self.num_pathways, f"Input tensor does not contain {self.num_pathways} pathway"
        return [getattr(self, f"pathway{pathway}_stem")(x[pathway]) for pathway in range(self.num_pathways)]


class ResStage(nn.Module):
    def __init__(self, dim_in, dim_out, stride, temp_kernel_sizes, num_blocks, dim_inner, num_groups, trans_func_name):
        super().__init__()
        self.num_pathways = len(dim_in)
        trans_func = TRANS_REGISTRY.get(trans_func_name)
        for pathway in range(self.num_pathways):
            blocks = [
                ResBlock(
                    dim_in[pathway] if i == 0 else dim_out[pathway],
                    dim_out[pathway],
                    temp_kernel_sizes[pathway][0],
                    stride if i == 0 else 1,
                    trans_func,
                    dim_inner[pathway],
                    num_groups,
                )
                for i in range(num_blocks)
            ]
            self.add_module(f"pathway{pathway}_res", nn.Sequential(*blocks))

    def forward(self, inputs):
        return [getattr(self, f"pathway{pathway}_res")(inputs[pathway]) for pathway in range(self.num_pathways)]


class FuseFastToSlow(nn.Module):
    """
    Fuses the information from the Fast pathway to the Slow pathway.
    """

    def __init__(self, dim_in, fusion_conv_channel_ratio, fusion_kernel, alpha):
        super().__init__()
        self.conv_f2s = nn.Conv3d(
            dim_in,
            dim_in * fusion_conv_channel_ratio,
            kernel_size=[fusion_kernel, 1, 1],
            stride=[alpha, 1, 1],
            padding=[fusion_kernel // 2, 0, 0],
            bias=False,
        )
        self.bn = nn.BatchNorm3d(dim_in * fusion_conv_channel_ratio)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x_s = x[0]
        x_f = x[1]
        fuse = self.relu(self.bn(self.conv_f2s(x_f)))
        x_s_fuse = torch.cat([x_s, fuse], 1)
        return [x_s_fuse, x_f]


class ResNetBasicHead(nn.Module):
    def __init__(self, dim_in, num_classes, pool_size, dropout_rate=0.0, act_func="softmax"):
        super().__init__()
        self.num_classes = num_classes
        for pathway, size in enumerate(pool_size):
            self.add_module(f"pathway{pathway}_avgpool", nn.AvgPool3d(size, stride=1))
        if dropout_rate > 0.0:
            self.dropout = nn.Dropout(dropout_rate)
        self.projection_verb = nn.Linear(sum(dim_in), num_classes[0], bias=True)
        self.projection_noun = nn.Linear(sum(dim_in), num_classes[1], bias=True)
        self.act = {"softmax": nn.Softmax(dim=4), "sigmoid": nn.Sigmoid()}[act_func]

    def project(self, x, projection):
        x = projection(x)
        # Performs fully convlutional inference.
        if not self.training:
            x = self.act(x)
            x = x.mean([1, 2, 3])
        return x.view(x.shape[0], -1)

    def forward(self, inputs):
        pool_out = [getattr(self, f"pathway{pathway}_avgpool")(x) for pathway, x in enumerate(inputs)]
        x = torch.cat(pool_out, 1)
        # (N, C, T, H, W) -> (N, T, H, W, C).
        x = x.permute((0, 2, 3, 4, 1))
        if hasattr(self, "dropout"):
            x = self.dropout(x)
        return self.project(x, self.projection_verb), self.project(x, self.projection_noun)


@MODEL_REGISTRY.register()
class SlowFast(nn.Module):
    """
    SlowFast model builder for SlowFast network.

    Christoph Feichtenhofer, Haoqi Fan, Jitendra Malik, and Kaiming He.
    "SlowFast networks for video recognition."
    https://arxiv.org/pdf/1812.03982.pdf
    """

    def __init__(self, cfg):
        """
        Args:
            cfg (CfgNode): model building configs, details are in the comments of the config file.
        """
        super().__init__()
        self.num_pathways = 2
        self._construct_network(cfg)

    def _construct_network(self, cfg):
        assert cfg.RESNET.DEPTH in _MODEL_STAGE_DEPTH
        depths = _MODEL_STAGE_DEPTH[cfg.RESNET.DEPTH]

        num_groups = cfg.RESNET.NUM_GROUPS
        width_per_group = cfg.RESNET.WIDTH_PER_GROUP
        dim_inner = num_groups * width_per_group
        beta_inv = cfg.SLOWFAST.BETA_INV
        ratio = cfg.SLOWFAST.FUSION_CONV_CHANNEL_RATIO
        temp_kernel = _TEMPORAL_KERNEL_BASIS[cfg.MODEL.ARCH]

        self.s1 = VideoModelStem(
            dim_in=cfg.DATA.INPUT_CHANNEL_NUM,
            dim_out=[width_per_group, width_per_group // beta_inv],
            kernel=[temp_kernel[0][0][0], temp_kernel[0][1][0]],
        )
        self.s1_fuse = FuseFastToSlow(
            width_per_group // beta_inv, ratio, cfg.SLOWFAST.FUSION_KERNEL_SZ, cfg.SLOWFAST.ALPHA
        )
        slow_in = width_per_group + width_per_group // beta_inv * ratio
        fast_in = width_per_group // beta_inv
        for i, num_blocks in enumerate(depths):
            dim_out = width_per_group * 4 * 2**i
            stage = ResStage(
                dim_in=[slow_in, fast_in],
                dim_out=[dim_out, dim_out // beta_inv],
                stride=cfg.RESNET.SPATIAL_STRIDES[i],
                temp_kernel_sizes=temp_kernel[i + 1],
                num_blocks=num_blocks,
                dim_inner=[dim_inner * 2**i, dim_inner * 2**i // beta_inv],
                num_groups=num_groups,
                trans_func_name=cfg.RESNET.TRANS_FUNC,
            )
            self.add_module(f"s{i + 2}", stage)
            if i < 3:
                fuse = FuseFastToSlow(dim_out // beta_inv, ratio, cfg.SLOWFAST.FUSION_KERNEL_SZ, cfg.SLOWFAST.ALPHA)
                self.add_module(f"s{i + 2}_fuse", fuse)
                slow_in = dim_out + dim_out // beta_inv * ratio
                fast_in = dim_out // beta_inv

        self.head = ResNetBasicHead(
            dim_in=[width_per_group * 32, width_per_group * 32 // beta_inv],
            num_classes=cfg.MODEL.NUM_CLASSES,
            pool_size=[
                [cfg.DATA.NUM_FRAMES // cfg.SLOWFAST.ALPHA, cfg.DATA.CROP_SIZE // 32, cfg.DATA.CROP_SIZE // 32],
                [cfg.DATA.NUM_FRAMES, cfg.DATA.CROP_SIZE // 32, cfg.DATA.CROP_SIZE // 32],
            ],
            dropout_rate=cfg.MODEL.DROPOUT_RATE,
            act_func=cfg.MODEL.HEAD_ACT,
        )

    def forward(self, x):
        x = x[:]  # avoid pass by reference
        x = self.s1(x)
        x = self.s1_fuse(x)
        x = self.s2(x)
        x = self.s2_fuse(x)
        x = self.s3(x)
        x = self.s3_fuse(x)
        x = self.s4(x)
        x = self.s4_fuse(x)
        x = self.s5(x)
        return self.head(x)
