"""Watching from the libraries that people train with, each the real one."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from modeldiagrams import load_recording, watch
from modeldiagrams.watching.file.histogram import INFINITE
from modeldiagrams.watching.file.records import Key

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the libraries

APART = os.environ.get("TRAINING_LIBRARIES", str(Path(sys.prefix) / "training"))
# before any test: transformers looks once whether there is accelerate
sys.path.append(APART)


@pytest.fixture(autouse=True)
def libraries(monkeypatch, tmp_path):
    importlib.invalidate_caches()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.act, self.b = nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)

    def forward(self, x, labels=None):
        y = self.b(self.act(self.a(x)))
        return {"loss": ((y - labels) ** 2).mean(), "logits": y} if labels is not None else y


def data(n=16):
    generator = torch.Generator().manual_seed(0)
    return [{"x": torch.randn(4, generator=generator), "labels": torch.randn(1, generator=generator)} for _ in range(n)]


def check(found, steps, fires):
    assert found.steps == tuple(range(steps))
    for moment in found.moments:
        if moment.phase == "train":
            assert sum(key.kind == "update" for key in moment.rows) == 4
            activation = next(k for k in moment.rows if k.kind == "activation" and k.node.rpartition(".")[2] == "a")
            assert moment.rows[activation].fires == fires
            assert not any("#" in key.node for key in moment.rows)


def test_lightning(tmp_path):
    lightning = importlib.import_module("lightning.pytorch")
    from modeldiagrams.watching.integrations.lightning import LightningCallback  # noqa: PLC0415

    class Task(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, batch, _):
            return self.net(**batch)["loss"]

        def validation_step(self, batch, _):
            self.net(**batch)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    loader = torch.utils.data.DataLoader(data(), batch_size=4)
    trainer = lightning.Trainer(
        max_epochs=2,
        accumulate_grad_batches=2,
        callbacks=[LightningCallback(every=1, path=tmp_path / "run.mdwatch")],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(Task(), loader, loader)
    found = load_recording(tmp_path / "run.mdwatch")
    check(found, steps=4, fires=2)
    assert len(found.losses) == 4
    assert "validation" in found.phases


def test_transformers(tmp_path):
    transformers = importlib.import_module("transformers")
    from modeldiagrams.watching.integrations.transformers import TransformersCallback  # noqa: PLC0415

    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        max_steps=3,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
    )
    callback = TransformersCallback(every=1, path=tmp_path / "run.mdwatch")
    transformers.Trainer(Net(), arguments, train_dataset=data(32), callbacks=[callback]).train()
    found = load_recording(tmp_path / "run.mdwatch")
    check(found, steps=3, fires=2)
    assert Key("", "activation", "logits") in found.keys


def test_accelerate(tmp_path):
    accelerate = importlib.import_module("accelerate")
    from modeldiagrams.watching.integrations.accelerate import AccelerateTracker  # noqa: PLC0415

    model = Net()
    tracker = AccelerateTracker(model, every=1, path=tmp_path / "run.mdwatch")
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2, log_with=tracker)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(data(), batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    accelerator.init_trackers("project")
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch)["loss"]
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            accelerator.log({"loss": loss.item()})
    accelerator.end_training()
    found = load_recording(tmp_path / "run.mdwatch")
    check(found, steps=2, fires=2)
    assert len(found.losses) == 2


@pytest.fixture
def recording(tmp_path):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch(model, every=1, path=tmp_path / "run.mdwatch") as watcher:
        for batch in data(3):
            loss = model(**batch)["loss"]
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            watcher.step(loss)
    return load_recording(tmp_path / "run.mdwatch")


def test_tensorboard_has_the_very_bins(tmp_path, recording):
    importlib.import_module("tensorboard")
    from modeldiagrams.watching.integrations.tensorboard import to_tensorboard  # noqa: PLC0415

    to_tensorboard(recording, tmp_path / "events")
    accumulator = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(tmp_path / "events"), size_guidance={"histograms": 0, "scalars": 0})
    events.Reload()
    assert [event.value for event in events.Scalars("loss")] == pytest.approx([loss.value for loss in recording.losses])
    for moment in recording.moments:
        for key, row in moment.rows.items():
            shown = events.Histograms(f"{key.kind}/{key.node or 'model'}/{key.tensor}")
            (value,) = (event.histogram_value for event in shown if event.step == moment.step)
            finite = [n for index, n in row.histogram.counts.items() if abs(index) < INFINITE]
            assert [n for n in value.bucket if n] == finite
            assert value.bucket_limit == sorted(value.bucket_limit)


def test_wandb_offline_gets_page_and_file(tmp_path, recording):
    wandb = importlib.import_module("wandb")
    from modeldiagrams import ModelDiagramsError  # noqa: PLC0415
    from modeldiagrams.watching.integrations.wandb import to_wandb  # noqa: PLC0415

    assert recording.steps
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><p>diagram", "utf-8")
    with pytest.raises(ModelDiagramsError, match=r"call wandb\.init\(\) first"):
        to_wandb(tmp_path / "run.mdwatch")
    with warnings.catch_warnings(), wandb.init(project="test", dir=str(tmp_path)) as run:
        artifact = to_wandb(tmp_path / "run.mdwatch", run, page=page)
    assert sorted(artifact.manifest.entries) == ["page.html", "run.mdwatch"]
    assert list((tmp_path / "wandb").glob("offline-run-*/files/media/html/*.html"))
