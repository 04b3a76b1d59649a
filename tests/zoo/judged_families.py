"""Which models belong together, judged by hand from papers and the libraries' documentation before any result was seen.

Models of a line are one design in several sizes and belong together. Models of two lines must be apart, unless a line
of `MAY` names the first models of both: one class, and a difference that may count as size or as design.

Corrected since: `vit_medium_patch16_gap_256` was in a line with the huge one, which has no LayerScale.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

JUDGED = {
    "torchvision.models": """
        resnet18 resnet34 resnet50 resnet152
        resnext50_32x4d resnext101_64x4d
        wide_resnet50_2
        quantization.resnet18
        vgg11 vgg19
        vgg16_bn vgg19_bn
        alexnet
        densenet121 densenet161
        efficientnet_b0 efficientnet_b7
        efficientnet_v2_s efficientnet_v2_l
        convnext_tiny convnext_large
        swin_t swin_b
        swin_v2_t swin_v2_b
        video.swin3d_t
        vit_b_16 vit_h_14
        regnet_x_400mf regnet_x_8gf
        regnet_y_400mf regnet_y_128gf
        mobilenet_v2
        mobilenet_v3_small mobilenet_v3_large
        mnasnet0_5 mnasnet1_3
        squeezenet1_0 squeezenet1_1
        googlenet
    """,
    "timm.models": """
        resnet18 resnet50 resnet152
        resnet50c
        resnext101_32x16d
        seresnext101_64x4d
        resnetv2_34 resnetv2_152
        regnety_004 regnety_032 regnety_640
        regnetx_004 regnetx_120
        vgg19
        vgg11_bn
        convnext_large convnext_xlarge
        convnextv2_base convnextv2_pico
        swin_small_patch4_window7_224 swin_large_patch4_window12_384
        swinv2_tiny_window8_256 swinv2_large_window12_192
        swinv2_cr_giant_224 swinv2_cr_large_224
        vit_medium_patch16_gap_256
        vit_huge_patch16_gap_448
        vit_base_patch32_clip_256 vit_large_patch14_clip_336
        deit3_base_patch16_384 deit3_medium_patch16_224
        pvt_v2_b0 pvt_v2_b3
        xcit_tiny_12_p16_384 xcit_small_12_p16_224 xcit_large_24_p8_224
        davit_giant davit_tiny
        tf_efficientnet_b3 tf_efficientnet_b7
        mixer_b16_224 mixer_s32_224
        resmlp_12_224 resmlp_36_224
        gmixer_24_224
        gmlp_s16_224
        poolformer_s12 poolformer_m36
        convformer_s18
        caformer_s18
        mobilenetv3_small_100 mobilenetv3_large_100
        mobilenetv2_100
        mnasnet_100
        mixnet_s
        densenet121 densenet201
        res2net50_26w_4s res2net101_26w_4s
        resnest50d
        skresnet34
        hrnet_w18 hrnet_w48
        dla34 dla60 dla102
        cait_s24_224 cait_m36_384
        edgenext_xx_small edgenext_small
        ghostnet_050 ghostnet_130
        levit_128s levit_384
        maxvit_tiny_tf_224 maxvit_base_tf_224
        coatnet_0_224
        nfnet_f0 nfnet_f3
        pit_s_224 pit_b_224
        rexnet_100 rexnet_200
        repvgg_a0 repvgg_b2
        gernet_l
        botnet26t_256
        mobileone_s1
        cspresnet50
        cspdarknet53
        twins_svt_small twins_svt_large
        twins_pcpvt_small
        volo_d1_224 volo_d3_224
        xception41 xception71
        eva02_base_patch14_224
        beit_base_patch16_224
    """,
    "transformers": """
        RobertaModel XLMRobertaModel CamembertModel Data2VecTextModel
        XLMRobertaXLModel
        ErnieModel
        RemBertModel
        ViTModel
        IJepaModel
        Wav2Vec2Model HubertModel UniSpeechModel
        WavLMModel
        Data2VecAudioModel
        Olmo2Model
        Qwen3Model
        GemmaModel
        Gemma3TextModel
        PhiModel
        SmolLM3Model
        DebertaModel
        DistilBertModel
        GPTNeoModel
        OpenAIGPTModel
        ConvNextV2Model
        BitModel
        SegformerModel
        XLNetModel
        BartModel PLBartModel
        MBartModel
        MarianModel
        LlamaModel MistralModel
        OlmoModel
        CohereModel
        StableLmModel
        Starcoder2Model
        BloomModel
        FalconModel
        OPTModel
        BeitModel Data2VecVisionModel
        DeiTModel
        SwinModel
        Swinv2Model
        CLIPTextModel CLIPSegTextModel XCLIPTextModel
        CLIPVisionModel CLIPSegVisionModel
        SiglipVisionModel
        OwlViTTextModel Owlv2TextModel
        OwlViTVisionModel Owlv2VisionModel
        DPRContextEncoder DPRQuestionEncoder
        XLMModel FlaubertModel
        MegatronBertModel
        LayoutLMModel
        GPT2Model
        GPTJModel
        GPTNeoXModel
        ConvNextModel
        ResNetModel
        RegNetModel
        MobileNetV1Model
        MobileNetV2Model
        MobileViTModel
        MobileViTV2Model
    """,
}
"""Package → lines of models that belong together."""

MAY = {
    "torchvision.models": """
        resnet18 resnext50_32x4d wide_resnet50_2
        vgg11 vgg16_bn
        efficientnet_b0 efficientnet_v2_s
        swin_t swin_v2_t
        regnet_x_400mf regnet_y_400mf
    """,
    "timm.models": """
        resnet18 resnet50c resnext101_32x16d seresnext101_64x4d
        regnety_004 regnetx_004
        vgg19 vgg11_bn
        convnext_large convnextv2_base
        vit_medium_patch16_gap_256 vit_huge_patch16_gap_448 vit_base_patch32_clip_256 deit3_base_patch16_384
    """,
    "transformers": """
        CLIPTextModel OwlViTTextModel
        CLIPVisionModel OwlViTVisionModel
        ConvNextModel ConvNextV2Model
    """,
}


class Pairs(NamedTuple):
    """Pairs of full names, each sorted."""

    together: frozenset[tuple[str, ...]]
    apart: frozenset[tuple[str, ...]]


def judged_pairs(package: str) -> Pairs:
    """What was judged of a package's models."""
    groups = [line.split() for line in JUDGED[package].strip().splitlines()]
    loose = [set(line.split()) for line in MAY[package].strip().splitlines()]
    together, apart = set(), set()
    for group in groups:
        together |= {_pair(package, *pair) for pair in combinations(group, 2)}
    for left, right in combinations(groups, 2):
        if not any({left[0], right[0]} <= names for names in loose):
            apart |= {_pair(package, one, other) for one in left for other in right}
    return Pairs(frozenset(together), frozenset(apart))


def _pair(package: str, *names: str) -> tuple[str, ...]:
    return tuple(sorted(f"{package}.{name}" for name in names))
