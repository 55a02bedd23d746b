"""The paper's configurations: what they say is the paper's, and each of them trains."""

from importlib import resources

import pytest
import torch

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import TrainingSet, loader
from namer_edge.model.namer import Namer
from namer_edge.training.building import build, objective_of
from namer_edge.training.config import TrainConfig, load_config
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..handwriting import written

FOLDER = resources.files("namer_edge") / "configs"
NAMES = sorted(
    item.name.removesuffix(".toml") for item in FOLDER.iterdir() if item.name.startswith("paper-")
)
ROWS = {
    "paper-crohme-aug": {"scale", "rotation"},
    "paper-hme100k": {
        *("train", "validation", "vocabulary", "channels", "teacher", "licence", "epochs")
    },
    "paper-teacher": {"teacher"},
    "paper-window": {"window"},
    "paper-heads": {"pgd_parts"},
    "paper-edges": {"left_weight", "right_weight"},
}
"""Beginning of a name → the only keys, beside `output`, in which it differs from `paper-crohme`."""


def test_the_paper_is_what_its_implementation_details_say() -> None:
    config = load_config("paper-crohme")
    assert (config.model, config.encoder) == ("namer", "densenet")
    assert (config.vat_width, config.vat_lateral, config.pgd_width) == (256, 256, 256)
    assert (config.pgd_layers, config.pgd_feedforward) == (2, 2)
    assert (config.pgd_weight, config.window, config.symbol_height) == (0.5, 5, 40)
    assert (config.epochs, config.batch_size, config.warmup_epochs) == (240, 32, 1)
    assert (config.learning_rate, config.final_learning_rate) == (2e-4, 2e-7)
    assert config.weight_decay == 0  # AdamW without it is Adam
    assert config.decoding == DecodingOptions(0.5, 1.0, 1.0)
    assert "dwap" in config.teacher
    assert config.augmentation.off
    ours = ("label_smoothing", "corrupt", "jitter", "surplus", "cut", "swap", "typeset", "ema")
    assert not any(getattr(config, key) for key in ours)
    assert config.threshold > 1
    photos = load_config("paper-hme100k")
    assert photos.channels == 3
    assert (photos.epochs, Vocabulary.load(photos.vocabulary).name) == (40, "hme100k")


def test_the_model_is_of_the_width_and_dropout_that_are_published() -> None:
    config = load_config("paper-crohme")
    model = build(config, Vocabulary.load("crohme"))
    assert isinstance(model, Namer)
    assert model.vat.lateral.conv.out_channels == model.vat.merge.conv.out_channels == 256
    transition = [m for m in model.encoder.children() if isinstance(m, torch.nn.Dropout)]
    assert [m.p for m in transition] == [0.2]
    image = torch.ones(1, 1, 32, 32)
    model.encoder.train()
    for layer in model.encoder.blocks.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0  # what is random now is the transitions
    for layer in model.encoder.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.eval()
    assert not torch.equal(model.encoder(image)[0], model.encoder(image)[0])


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith(tuple(ROWS))])
def test_a_row_differs_from_the_paper_in_what_it_is_about(name: str) -> None:
    (allowed,) = (keys for start, keys in ROWS.items() if name.startswith(start))
    row, paper = load_config(name), load_config("paper-crohme")
    differs = {key for key in TrainConfig.__dataclass_fields__ if key_of(row, paper, key)}
    assert differs - {"output"} <= allowed
    assert differs & allowed
    assert "output" in differs, "two rows would write over each other"


def key_of(one: TrainConfig, other: TrainConfig, key: str) -> bool:
    return bool(getattr(one, key) != getattr(other, key))


def test_every_row_of_the_ablations_has_a_configuration_of_its_own() -> None:
    outputs = [load_config(name).output for name in NAMES]
    assert len(set(outputs)) == len(outputs)
    heads = {frozenset(load_config(n).pgd_parts) for n in NAMES if n.startswith("paper-heads")}
    assert len(heads | {frozenset(load_config("paper-crohme").pgd_parts)}) == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_is_built_and_takes_a_step(name: str) -> None:
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    # The DenseNet once for either kind of model; rows that share it take less.
    whole = name in ("paper-crohme", "paper-dwap")
    less = ["encoder=edge", "widths=[8, 8, 16, 16]", "blocks=[0, 0, 0, 1]"]
    config = load_config(name, ["symbol_height=10", *([] if whole else less)])
    vocabulary = Vocabulary.load(config.vocabulary)
    if config.vocabulary == "hme100k":
        assert all(t in vocabulary for t in written(0).tokens if t not in "{}")
    try:
        model = build(config, vocabulary)
        objective = objective_of(model, config).train()
        ink = TrainingSet(
            [written(0), written(2)], vocabulary, config.preprocessing, Augmentation()
        )
        (batch,) = loader(ink, ink.plan(0, 2, 0))
        optimizer = torch.optim.AdamW(model.parameters(), config.learning_rate)
        losses = objective(batch, (0,))
        losses["loss"].backward()
        before = [p.detach().clone() for p in model.parameters()]
        optimizer.step()
    finally:
        torch.set_num_threads(threads)
    assert torch.isfinite(losses["loss"])
    changed = [bool((a != b).any()) for a, b in zip(before, model.parameters(), strict=True)]
    asked = [p.requires_grad for p in model.parameters()]
    assert not any(c and not a for c, a in zip(changed, asked, strict=True))
    assert sum(changed) > 0.8 * sum(asked)
    if config.model == "namer":
        assert set(losses) == {"loss", "vat", *config.pgd_parts}
