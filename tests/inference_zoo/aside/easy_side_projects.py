"""Easy: what beginners build after a course, with the sizes of their data."""

from __future__ import annotations

import torch
from torch import nn
from torch.autograd import Variable

__all__ = ["ActorCritic", "KeypointNet", "StockLSTM", "SuperResolutionNet", "TitanicNet"]


class KeypointNet(nn.Module):
    """Takes in a square, grayscale image of a face and gives 68 (x, y) pairs."""

    def __init__(self):
        super(KeypointNet, self).__init__()
        # 1 input image channel (grayscale), 32 output channels/feature maps, 5x5 square convolution kernel
        # output size = (W-F)/S + 1 = (224-5)/1 + 1 = 220, after pooling 110
        self.conv1 = nn.Conv2d(1, 32, 5)
        self.pool = nn.MaxPool2d(2, 2)
        # 108 -> 54
        self.conv2 = nn.Conv2d(32, 64, 3)
        # 52 -> 26
        self.conv3 = nn.Conv2d(64, 128, 3)
        # 24 -> 12
        self.conv4 = nn.Conv2d(128, 256, 3)
        self.drop = nn.Dropout(p=0.4)
        self.fc1 = nn.Linear(256 * 12 * 12, 1000)
        self.fc2 = nn.Linear(1000, 136)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = self.pool(torch.relu(self.conv3(x)))
        x = self.pool(torch.relu(self.conv4(x)))
        x = x.view(x.size(0), -1)
        x = self.drop(torch.relu(self.fc1(x)))
        return self.fc2(x)


class StockLSTM(nn.Module):
    def __init__(self, num_classes=1, input_size=5, hidden_size=2, num_layers=1):
        super().__init__()
        self.num_classes = num_classes
        self.num_layers = num_layers
        self.input_size = input_size
        self.hidden_size = hidden_size

        self.lstm = nn.LSTM(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers, batch_first=True)
        self.fc_1 = nn.Linear(hidden_size, 128)
        self.fc = nn.Linear(128, num_classes)
        self.relu = nn.ReLU()

    def forward(self, x):
        h_0 = Variable(torch.zeros(self.num_layers, x.size(0), self.hidden_size))
        c_0 = Variable(torch.zeros(self.num_layers, x.size(0), self.hidden_size))
        output, (hn, cn) = self.lstm(x, (h_0, c_0))
        hn = hn.view(-1, self.hidden_size)
        out = self.relu(hn)
        out = self.relu(self.fc_1(out))
        return self.fc(out)


class TitanicNet(nn.Module):
    # Pclass, Sex, Age, SibSp, Parch, Fare, Embarked
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(7, 64),
            nn.BatchNorm1d(64),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(64, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return torch.sigmoid(self.net(x)).squeeze(1)


class ActorCritic(nn.Module):
    """Both actor and critic of LunarLander in one model."""

    def __init__(self, n_obs=8, n_actions=4):
        super().__init__()
        self.affine1 = nn.Linear(n_obs, 128)

        # actor's layer
        self.action_head = nn.Linear(128, n_actions)

        # critic's layer
        self.value_head = nn.Linear(128, 1)

        # action & reward buffer
        self.saved_actions = []
        self.rewards = []

    def forward(self, state):
        x = torch.relu(self.affine1(state))
        action_prob = torch.softmax(self.action_head(x), dim=-1)
        state_values = self.value_head(x)
        return action_prob, state_values


class SuperResolutionNet(nn.Module):
    def __init__(self, upscale_factor=3):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 64, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(64, 64, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(64, 32, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(32, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))

    def _initialize_weights(self):
        for conv in (self.conv1, self.conv2, self.conv3):
            nn.init.orthogonal_(conv.weight, nn.init.calculate_gain("relu"))
        nn.init.orthogonal_(self.conv4.weight)
