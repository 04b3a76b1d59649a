"""Images, films and volumes."""

import torch
from torch import nn
from torch.nn import functional as F


class LeNet(nn.Module):
    """Only 32 × 32 fits its first Linear."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


class MnistNet(nn.Module):
    """Only 28 × 28 fits."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.MaxPool2d(2))
        self.head = nn.Linear(9216, 10)

    def forward(self, input):
        return F.log_softmax(self.head(self.features(input).flatten(1)), dim=1)


class AlexLike(nn.Module):
    """Only 224 × 224 or so fits."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 11, stride=4, padding=2),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(8, 8, 5, padding=2),
            nn.MaxPool2d(3, 2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(8 * 13 * 13, 10))

    def forward(self, x):
        return self.classifier(self.features(x))


class Block(nn.Module):
    """Its width is an argument, its stride an option."""

    def __init__(self, width, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, stride, 1)
        self.bn = nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)) + x)


class ResNetLike(nn.Module):
    """The classifier is registered before the stem."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.fc = nn.Linear(16, num_classes)
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.blocks = nn.Sequential(Block(16), Block(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.blocks(self.stem(x)).mean((2, 3)))


class UNet(nn.Module):
    """Sizes must halve twice."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, image):
        first = self.down1(image)
        second = self.down2(F.max_pool2d(first, 2))
        return self.out(torch.cat([first, self.up(second)], dim=1))


class TinyViT(nn.Module):
    """Positions are learned: one size only."""

    def __init__(self, image_size=64, patch_size=16, dim=32):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch_size, patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 4, 64, batch_first=True), 2)
        self.head = nn.Linear(dim, 10)

    def forward(self, pixel_values):
        x = self.patches(pixel_values).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.head(self.encoder(x)[:, 0])


class Film(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 8, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool3d(1)

    def forward(self, video):
        return self.pool(self.conv(video)).flatten(1)


class FrameWise(nn.Module):
    """A film goes frame by frame through a 2D encoder, then through an LSTM."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.lstm = nn.LSTM(8, 16, batch_first=True)

    def forward(self, frames):
        batch, steps, *image = frames.shape
        return self.lstm(self.encoder(frames.reshape(batch * steps, *image)).view(batch, steps, -1))[0]


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.LazyLinear(8))

    def forward(self, x1, x2):
        return F.pairwise_distance(self.embed(x1), self.embed(x2))


class Triplet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveMaxPool2d(1), nn.Flatten())

    def forward(self, anchor, positive, negative):
        return self.backbone(anchor), self.backbone(positive), self.backbone(negative)


class Detector(nn.Module):
    """Returns a dict."""

    def __init__(self, num_queries=5):
        super().__init__()
        self.backbone = nn.Conv2d(3, 32, 8, 8)
        self.queries = nn.Embedding(num_queries, 32)
        self.transformer = nn.Transformer(32, 4, 1, 1, 64, batch_first=True)
        self.boxes, self.classes = nn.Linear(32, 4), nn.Linear(32, 7)

    def forward(self, images):
        memory = self.backbone(images).flatten(2).transpose(1, 2)
        out = self.transformer(memory, self.queries.weight.expand(len(images), -1, -1))
        return {"boxes": self.boxes(out).sigmoid(), "logits": self.classes(out)}


class ChannelsLast(nn.Module):
    """Takes images as height, width, channels."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(5, 4, 3)

    def forward(self, x):
        assert x.shape[-1] == 5, "channels come last"
        return self.conv(x.permute(0, 3, 1, 2))
