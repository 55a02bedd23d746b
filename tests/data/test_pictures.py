"""Pictures with labels (HME100K): in color from the camera, packed beside ink."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from namer_edge.data.labels import read_labels
from namer_edge.data.pack import Pack, load_pack, save_pack
from namer_edge.data.pictures import load_pictures
from namer_edge.evaluation.samples import pack_samples
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import written
from ..photos import photo, write_photos

HME100K = Vocabulary.load("hme100k")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three photos: one well labeled, one with a label that is none, one without; a blank page;
    one that is no picture; and a label without a picture."""
    folder = write_photos(tmp_path / "photos", [0, 1, 2])
    cv2.imwrite(str(folder / "blank.jpg"), np.full((60, 80, 3), 230, np.uint8))
    (folder / "torn.jpg").write_bytes(b"\xff\xd8 no more")
    (tmp_path / "labels.tsv").write_text(
        "0.jpg\tx ^ { 2 } + 1\n1.jpg\t\\frac { 1 }\nblank.jpg\tx\ntorn.jpg\tx\ngone.jpg\tx\n",
        "utf-8",
    )
    return folder


def test_every_picture_and_label_is_told_of(folder: Path) -> None:
    loaded = load_pictures(folder, folder.parent / "labels.tsv", HME100K)
    assert [formula.name for formula in loaded.formulas] == ["0", "1", "2"]
    assert loaded.formulas[0].tokens == ("x", "^", "{", "2", "}", "+", "1")
    report = loaded.report
    assert (report.agreeing, report.formulas, report.files) == (1, 3, 5)
    assert "ends after" in report.disagreeing[0].reason
    assert [remark.name for remark in report.unlabeled] == ["2"]
    assert {r.name: r.reason for r in report.unreadable}.keys() == {"blank", "torn"}
    assert "no ink" in report.unreadable[0].reason
    assert [remark.name for remark in report.inkless] == ["gone"]
    with pytest.raises(DataError, match="not there"):
        load_pictures(folder / "gone", folder.parent / "labels.tsv", HME100K)


def test_names_may_have_dots(tmp_path: Path) -> None:
    folder = write_photos(tmp_path / "photos", [0])
    (folder / "0.jpg").rename(folder / "page.1.jpg")
    (tmp_path / "labels.tsv").write_text("page.1\tx ^ { 2 } + 1\n", "utf-8")
    loaded = load_pictures(folder, tmp_path / "labels.tsv", HME100K)
    assert [formula.name for formula in loaded.formulas] == ["page.1"]
    assert loaded.report.agreeing == 1


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    for writer in ("one", "two"):
        (tmp_path / "photos").mkdir(exist_ok=True)
        write_photos(tmp_path / "photos" / writer, [0])
    labels = tmp_path / "labels.tsv"
    labels.write_text("0.jpg\tx\n", "utf-8")
    with pytest.raises(DataError, match="two formulas are called 0"):
        load_pictures(tmp_path / "photos", labels, HME100K)
    labels.write_text("one/0.jpg\tx\ntwo/0.jpg\ty\n", "utf-8")
    with pytest.raises(DataError, match=r"one/0\.jpg and two/0\.jpg"):
        load_pictures(tmp_path / "photos" / "one", labels, HME100K)


def test_labels_without_spaces_are_no_tokens(tmp_path: Path) -> None:
    folder, labels = write_photos(tmp_path / "photos", [0]), tmp_path / "labels.tsv"
    labels.write_text("0\tx^2+1\n", "utf-8")
    report = load_pictures(folder, labels, HME100K).report
    assert (report.agreeing, len(report.disagreeing)) == (0, 1)
    assert "spaces" in report.disagreeing[0].reason
    labels.write_text("0\t\\mathbb{R}\n", "utf-8")
    style = load_pictures(folder, labels, Vocabulary.load("mathwriting")).report
    assert style.agreeing == 1


def test_pictures_lie_in_a_pack_beside_ink(folder: Path, tmp_path: Path) -> None:
    loaded = load_pictures(folder, folder.parent / "labels.tsv", HME100K)
    both = [written(3), *loaded.formulas, written(4)]
    save_pack(tmp_path / "both.npz", Pack(both, loaded.report, {}))
    again = load_pack(tmp_path / "both.npz").formulas
    assert [formula.picture is None for formula in again] == [True, False, False, False, True]
    for old, new in zip(both, again, strict=True):
        assert (new.name, new.tokens) == (old.name, old.tokens)
        assert [s.tolist() for s in new.strokes] == [s.tolist() for s in old.strokes]
        if old.picture is not None and new.picture is not None:
            assert new.picture.data.tobytes() == (folder / f"{old.name}.jpg").read_bytes()
            assert (new.picture.box, new.picture.symbol) == (old.picture.box, old.picture.symbol)


def test_a_pack_of_pictures_is_a_set_to_be_evaluated(folder: Path, tmp_path: Path) -> None:
    loaded = load_pictures(folder, folder.parent / "labels.tsv", HME100K)
    save_pack(tmp_path / "photos.npz", Pack(loaded.formulas, loaded.report, {}))
    samples = {sample.source.name: sample for sample in pack_samples(tmp_path / "photos.npz")}
    assert samples.keys() == {"0", "1", "2", "blank", "torn", "gone"}
    assert not prepare_input(samples["0"].source.value, Preprocessing()).blank
    assert samples["0"].label is not None
    assert samples["0"].label.latex == "x ^ { 2 } + 1"
    assert samples["2"].label is None
    assert samples["torn"].source.error is not None


@pytest.mark.parametrize("height", [16.0, 26.0, 40.0])
def test_its_size_in_a_look_is_known_before_it_is_opened(folder: Path, height: float) -> None:
    preprocessing = Preprocessing(symbol_height=height)
    for formula in load_pictures(folder, folder.parent / "labels.tsv", HME100K).formulas:
        assert formula.picture is not None
        prepared = prepare_input(formula.source, preprocessing)
        assert formula.picture.scale(preprocessing) == pytest.approx(prepared.scale, rel=0.2)
        rows, columns = np.nonzero(prepared.image > 100)
        corners = prepared.to_input(
            np.array([[columns.min(), rows.min()], [columns.max(), rows.max()]])
        )
        off = np.abs(corners.ravel() - formula.picture.box) * prepared.scale
        assert off.max() < 4  # pixels of the look: the pen's width and more


def test_the_five_photos_of_hme100k(shared_data: Path) -> None:
    images = shared_data / "hme100k" / "images"
    loaded = load_pictures(images, images / "labels.tsv", HME100K)
    assert (loaded.report.agreeing, loaded.report.files) == (5, 5)
    for formula, label in zip(loaded.formulas, read_labels(images / "labels.tsv"), strict=True):
        assert " ".join(formula.tokens) == label.latex
        assert formula.picture is not None
        x0, y0, x1, y1 = formula.picture.box
        assert 0 <= x0 < x1
        assert 0 <= y0 < y1
        assert 2 < formula.picture.symbol < 200


def test_a_photo_has_color() -> None:
    assert photo(0).shape[2] == 3
    assert len({tuple(pixel) for pixel in photo(0)[::8, ::8].reshape(-1, 3)}) > 20
