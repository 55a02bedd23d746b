"""Camera pictures as training samples: of the device's making, their places told by a teacher."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from namer_edge.checkpoints.weights import load_weights, save_weights
from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import TrainingSet, loader
from namer_edge.data.formula import Formula
from namer_edge.data.mathwriting import load_mathwriting
from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.pictures import load_pictures
from namer_edge.data.report import Report
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import Preprocessing

from ..autoregressive.small import small
from ..handwriting import VOCABULARY, WRITTEN, written
from ..photos import write_photos
from .conftest import PLAIN, SMALL

LOOK = Preprocessing(symbol_height=20.0)
NUMBERS = (0, 2, 4, 5)
SETTINGS = [
    *(*SMALL, *PLAIN, "precision=fp32", "epochs=1", "batch_size=4", 'validation=""'),
]


@pytest.fixture
def photos(tmp_path: Path) -> list[Formula]:
    folder = write_photos(tmp_path / "photos", NUMBERS)
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"{n}\t{WRITTEN[n][0]}\n" for n in NUMBERS), "utf-8")
    return load_pictures(folder, labels, VOCABULARY).formulas


def located(formula: Formula, number: int) -> Formula:
    """With the positions that its ink had, in pixels of the photo: a teacher that knows."""
    ink = written(number)
    points = np.concatenate(ink.strokes)
    low, high = points.min(0), points.max(0)
    assert formula.picture is not None
    box = np.array(formula.picture.box)
    share = (ink.positions - low) / np.maximum(high - low, 1e-6)
    return replace(formula, positions=(box[:2] + share * (box[2:] - box[:2])).astype(np.float32))


def test_without_augmentation_it_is_what_the_device_sees(photos: list[Formula]) -> None:
    ink = TrainingSet(photos, VOCABULARY, LOOK, Augmentation())
    for batch in ink.plan(epoch=0, batch_size=2, seed=0):
        for draw in batch:
            drawn = ink[draw]
            expected = prepare_input(photos[draw.formula].source, LOOK).image
            assert drawn.size == expected.shape
            assert (drawn.image[: drawn.size[0], : drawn.size[1]] == expected).all()


@pytest.mark.parametrize("scale", [0.0, 0.3])
def test_augmented_it_stays_inside_and_its_tokens_on_their_ink(
    photos: list[Formula], scale: float
) -> None:
    known = [located(photo, number) for photo, number in zip(photos, NUMBERS, strict=True)]
    wild = Augmentation(scale=scale, aspect=0.2, rotation=5.0, shear=0.1, pen=0.3)
    ink = TrainingSet([*known, written(7)], VOCABULARY, LOOK, wild)  # pictures and ink in one batch
    for seed in range(4):
        for batch in loader(ink, ink.plan(0, 5, seed=seed)):
            images = batch.images[:, 0].numpy()
            assert images.any(axis=(1, 2)).all()
            assert not images[:, [0, -1]].any()
            assert not images[:, :, [0, -1]].any()
            for image, label, cells in zip(images, batch.labels, batch.cells, strict=True):
                for token, (row, column) in zip(label.classes[label.visual], cells, strict=True):
                    near = image[max(0, row * 8 - 8) : row * 8 + 16]
                    near = near[:, max(0, column * 8 - 8) : column * 8 + 16]
                    assert near.any(), VOCABULARY.token(int(token))


def test_without_a_teacher_it_says_to_give_one(photos: list[Formula], tmp_path: Path) -> None:
    pack = tmp_path / "photos.npz"
    save_pack(pack, Pack(photos, Report(4), {}))
    config = load_config("edge", [*SETTINGS, f'train=["{pack}"]', f"output={tmp_path / 'run'}"])
    with pytest.raises(DataError, match=r"pictures have no positions.*teacher=WEIGHTS"):
        train(config)


def test_in_color_blue_ink_is_dark_in_blue(photos: list[Formula]) -> None:
    """Ink is bright where it takes light from the paper, and that it does least in its own
    color; what is written with a pen of no color is alike in all three."""
    preprocessing = replace(LOOK, channels=3)
    for augmentation in (Augmentation(), Augmentation(scale=0.2, rotation=3.0)):
        ink = TrainingSet(photos[:1], VOCABULARY, preprocessing, augmentation)
        for batch in loader(ink, ink.plan(0, 1, seed=0)):
            image = batch.images[0].numpy().astype(int)
            assert image.shape[0] == 3
            red, _, blue = (plane[image.max(0) > 120].mean() for plane in image)
            assert red > 1.3 * blue
    plain = TrainingSet([written(0)], VOCABULARY, preprocessing, Augmentation())
    (batch,) = loader(plain, plain.plan(0, 1, seed=0))
    assert (batch.images == batch.images[:, :1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("channels", [1, 3])
def test_a_teacher_learns_from_pictures_and_teaches_from_them(
    channels: int, photos: list[Formula], tmp_path: Path
) -> None:
    """And both read pictures from the same pack, to be judged by."""
    pack = tmp_path / "photos.npz"
    save_pack(pack, Pack(photos, Report(4), {}))
    threads = torch.get_num_threads()
    data = [f'train=["{pack}"]', f"validation={pack}", f"channels={channels}"]
    narrow = ["decoder_width=32", "attention_width=32", "swap=0.25"]
    try:
        output = tmp_path / "dwap"
        train(load_config("dwap", [*SETTINGS, *data, *narrow, f"output={output}"]))
        teacher = output / "last.safetensors"
        output = tmp_path / "namer"
        train(load_config("edge", [*SETTINGS, *data, f"teacher={teacher}", f"output={output}"]))
    finally:
        torch.set_num_threads(threads)
    namer, preprocessing, record = load_weights(output / "last.safetensors")
    assert namer.architecture.channels == preprocessing.channels == channels
    assert record["progress"]["samples_seen"] == 4
    assert 0 <= record["validation"]["exprate"] <= 100


@pytest.mark.slow
def test_real_photos_and_ink_of_hme100k_and_mathwriting(shared_data: Path, tmp_path: Path) -> None:
    """The excerpts at hand: five photos, and eleven files of ink of which ten have a label."""
    images = shared_data / "hme100k" / "images"
    vocabularies = {name: Vocabulary.load(name) for name in ("hme100k", "mathwriting")}
    loaded = {
        "hme100k": load_pictures(images, images / "labels.tsv", vocabularies["hme100k"]),
        "mathwriting": load_mathwriting(shared_data / "mathwriting" / "excerpt.zip"),
    }
    threads = torch.get_num_threads()
    seen = {}
    try:
        for name, vocabulary in vocabularies.items():
            pack, output = tmp_path / f"{name}.npz", tmp_path / name
            save_pack(pack, Pack(loaded[name].formulas, loaded[name].report, {}))
            teacher = tmp_path / f"{name}-dwap.safetensors"
            save_weights(teacher, small("dwap", vocabulary=vocabulary), LOOK, {})
            settings = [f'train=["{pack}"]', f"vocabulary={name}", f"teacher={teacher}"]
            config = [*SETTINGS, *settings, f"output={output}", "batch_size=5"]
            train(load_config("edge", config))
            _, _, record = load_weights(output / "last.safetensors")
            seen[name] = record["progress"]["samples_seen"]
    finally:
        torch.set_num_threads(threads)
    assert seen == {"hme100k": 5, "mathwriting": 10}
