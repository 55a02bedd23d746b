"""A run without formulas: typeset labels alone, from sources whose licences go with the weights."""

import json
from pathlib import Path

import pytest
import torch

from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.model_file import ModelFile, locate

from .conftest import SMALL

CHECKPOINT = Path(__file__).parents[2] / "export" / "checkpoints" / "free-edge.json"
FREE = {
    "detexify.tsv.gz": "Detexify (ODbL",
    "unipen.tsv.gz": "UNIPEN train_r01_v07 (CC BY 4.0",
    "omniglot.tsv.gz": "Omniglot (MIT",
    "detypify.tsv.gz": "Detypify (MIT",
    "hwrt.tsv.gz": "hwrt (MIT",
    "pendigits.tsv.gz": "pendigits (UCI, CC BY 4.0",
}
"""Tables of ink that allow commercial use, and how the licence names each."""
LESS = [
    *SMALL,
    *("widths=[8, 8, 16, 16]", "blocks=[0, 0, 0, 1]", "vat_width=16", "pgd_width=16"),
    *("symbol_height=10", "epochs=1", "batch_size=4", "samples=8", "strangers=0", 'validation=""'),
]


def test_a_run_without_formulas_tells_what_it_learned_from(tmp_path: Path) -> None:
    table, hands, labels = (tmp_path / name for name in ("unipen.tsv", "hands.npz", "labels.tsv"))
    rows = [f"{s}\t{s}\tw\t1\t500\t0,0 {n}00,1000 0,500" for n, s in enumerate("xyz+=", 1)]
    table.write_text("\n".join(["label\ttoken\twriter\trel\tsize\tstrokes", *rows]) + "\n")
    labels.write_text("0\tx + y = z\n1\tx = x\n")
    assert main(["data", "symbols", str(table), "-o", str(hands)]) == 0
    files = [f'labels=["{labels}"]', f'hands=["{hands}"]', f"output={tmp_path / 'run'}"]
    threads = torch.get_num_threads()
    try:
        assert train(load_config("free-edge", [*LESS, *files]))
    finally:
        torch.set_num_threads(threads)
    record = json.loads((tmp_path / "run" / "last.json").read_text())
    assert record["progress"]["samples_seen"] == 8
    assert record["licence"] == load_config("free-edge").licence
    assert [list(sources) for sources in record["data"].values()] == [["unipen.tsv"]]


def test_without_formulas_a_number_of_samples_is_asked_for(tmp_path: Path) -> None:
    settings = [*LESS, "samples=0", "hands=[]", "labels=[]", f"output={tmp_path / 'run'}"]
    with pytest.raises(DataError, match="give samples"):
        train(load_config("free-edge", settings))


def test_the_recipe_names_the_licence_of_each_source() -> None:
    config = load_config("free-edge")
    assert all(named in config.licence for named in FREE.values())
    assert not config.train
    assert not config.init


def test_the_checkpoint_was_made_of_free_sources_alone() -> None:
    record = json.loads(CHECKPOINT.read_text())
    sources = {name for sources in record["data"].values() for name in sources}
    assert sources == {*FREE}
    assert record["licence"] == load_config("free-edge").licence
    assert not record["config"]["train"]
    grammars = {Path(path).stem for path in record["config"]["labels"]}
    assert grammars <= {"short", "mathematics", "school", "everyday"}
    while record:  # and all that it was begun from
        assert record["data"].keys() == {"runs/data/hands.npz", "runs/data/detexify.npz"}
        record = record.get("before")


def test_the_packaged_model_is_made_of_that_checkpoint_and_free_ink() -> None:
    model = ModelFile.open("free-edge")
    record = json.loads(CHECKPOINT.read_text())
    assert model.meta["licence"] == record["licence"]
    assert model.meta["training"]["checkpoint_sha256"] == record["sha256"]
    assert model.meta["calibration"]["data"] == "composed.npz"
    assert model.vocabulary.size == Vocabulary.load("everyday").size


@pytest.mark.parametrize(
    "path",
    [CHECKPOINT.with_name("LICENSE-free-edge"), locate("free-edge") / "LICENSE"],
    ids=["checkpoint", "model"],
)
def test_the_licence_lies_beside_the_weights_and_names_each_source(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "SPDX-License-Identifier: Apache-2.0" in text
    for source in ("Detexify", "UNIPEN", "Omniglot", "Detypify", "hwrt", "pendigits"):
        assert source in text
    for link in ("opendatacommons.org/licenses/odbl", "creativecommons.org/licenses/by/4.0"):
        assert link in text
