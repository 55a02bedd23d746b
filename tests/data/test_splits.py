"""The official splits are found in a data folder, or it is said what is missing."""

from pathlib import Path

import pytest

from namer_edge.data.splits import CHOICE, CROHME, REPORTED, TRAINING, find_split
from namer_edge_runtime.errors import DataError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "crohme"
    (folder / "test2014").mkdir(parents=True)
    (folder / "train.zip").touch()
    for name in ("train", "test2014", "test2013"):
        (folder / f"labels-{name}.tsv").touch()
    (folder / "test2016.zip").touch()
    return tmp_path / "data"


def test_zip_and_folder_are_found_from_either_folder(data: Path) -> None:
    for start in (data, data / "crohme", str(data)):
        train = find_split(start, TRAINING)
        assert (train.name, train.ink.name, train.labels.name) == (
            "train",
            "train.zip",
            "labels-train.tsv",
        )
        assert find_split(start, "test2014").ink.name == "test2014"


def test_what_is_missing_is_said(data: Path) -> None:
    with pytest.raises(DataError, match="no such data folder"):
        find_split(data / "nowhere", "train")
    with pytest.raises(DataError, match=r"neither test2013\.zip nor a folder test2013"):
        find_split(data, CHOICE)
    with pytest.raises(DataError, match=r"labels-test2016\.tsv"):
        find_split(data, "test2016")
    with pytest.raises(DataError, match="no split of CROHME"):
        find_split(data, "test2019")


def test_no_split_has_two_uses() -> None:
    assert len({TRAINING, CHOICE, *REPORTED} & set(CROHME)) == 4


def test_all_splits_are_in_the_real_data(shared_data: Path) -> None:
    for name in CROHME:
        assert find_split(shared_data, name).ink.exists()
