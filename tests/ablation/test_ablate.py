"""Ablations: rows that are the paper's, measured on one model or trained, and told apart."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from namer_edge.ablation import runs as runs_module
from namer_edge.ablation.engine import Remembering, Uncorrected
from namer_edge.ablation.measure import row_setting
from namer_edge.ablation.results import NOT_RUN, Results
from namer_edge.ablation.runs import runs
from namer_edge.ablation.tables import TABLES
from namer_edge.model.graph_decoder import PARTS
from namer_edge.training.config import TrainConfig, load_config
from namer_edge_runtime.command import main
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.engine.base import PgdInputs, PgdOutput, VatOutput
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.recognizer import Recognizer

from ..export.conftest import checkpoint  # noqa: F401 (a fixture)
from ..runtime.tiny_model import formula, write_tiny_model
from ..training.conftest import PLAIN, SMALL, pack  # noqa: F401 (a fixture)

ROWS = [(name, row) for name, table in TABLES.items() for row in table.rows]


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[f"{t}-{r.name}" for t, r in ROWS])
def test_a_row_is_what_its_configuration_says(table: str, row: runs_module.Row) -> None:
    config, paper = load_config(row.config), load_config("paper-crohme")
    assert all(getattr(config, key) == value for key, value in row.settings.items())
    keys = TrainConfig.__dataclass_fields__
    differs = {key for key in keys if getattr(config, key) != getattr(paper, key)}
    assert differs <= {*row.settings, "output"}
    upon_edge = {run.row.name: run.config for run in runs(TABLES[table], "edge", [])}[row.name]
    assert all(getattr(upon_edge, key) == value for key, value in row.settings.items())
    assert upon_edge.encoder == "edge"


class Counting:
    """An engine that counts."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.engine = recognizer.engine
        self.name, self.device, self.precision = "counting", "CPU", "fp32"
        self.calls = {"vat": 0, "pgd": 0}

    def vat(self, images: np.ndarray) -> VatOutput:
        self.calls["vat"] += 1
        return self.engine.vat(images)

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        self.calls["pgd"] += 1
        return self.engine.pgd(inputs)


@pytest.fixture
def tiny(tmp_path: Path) -> Recognizer:
    return Recognizer.from_pretrained(write_tiny_model(tmp_path / "tiny").path)


def with_engine(recognizer: Recognizer, engine: Counting | Remembering | Uncorrected) -> Recognizer:
    return Recognizer(engine, recognizer.preprocessing, recognizer.vocabulary, recognizer.decoding)


def test_the_network_runs_once_for_all_rows(tiny: Recognizer) -> None:
    counting = Counting(tiny)
    remembering = with_engine(tiny, Remembering(counting))
    inputs = [formula("1 - 1"), formula("1 ^ - 1"), formula("- - 1")]
    expected = [r.canonical for r in tiny(inputs, batch_size=1)]
    for _ in range(3):
        assert [r.canonical for r in remembering(inputs, batch_size=1)] == expected
    assert counting.calls == {"vat": 3, "pgd": 3}


def test_features_are_computed_again_where_other_nodes_are_asked_for(tiny: Recognizer) -> None:
    """A row may pick other nodes after the features of its picture were let go."""
    counting = Counting(tiny)
    engine = Remembering(counting)
    inputs = [formula("1 - 1"), formula("1 ^ - 1")]
    with_engine(tiny, engine)(inputs, batch_size=1)
    other = Recognizer(engine, tiny.preprocessing, tiny.vocabulary, DecodingOptions(max_nodes=4))
    alone = Recognizer(
        tiny.engine, tiny.preprocessing, tiny.vocabulary, DecodingOptions(max_nodes=4)
    )
    assert [r.canonical for r in other(inputs, batch_size=1)] == [
        r.canonical for r in alone(inputs, batch_size=1)
    ]
    assert counting.calls == {"vat": 4, "pgd": 4}


def test_without_self_correction_nodes_stay_what_vat_saw() -> None:
    correction = np.full((1, 3, 5), 0.2, np.float32)
    edges = np.zeros((1, 3, 3), np.float32)

    class Fixed(Counting):
        def __init__(self) -> None: ...

        def pgd(self, inputs: PgdInputs) -> PgdOutput:
            return PgdOutput(correction, edges, edges)

    classes = np.array([[4, 5, 2]])  # of three: <sos>, <eos>, the last visual class
    inputs = PgdInputs(
        None, None, classes, classes, classes, correction[..., 0], correction[..., 0]
    )
    kept = Uncorrected(Fixed()).pgd(inputs).correction
    assert kept[0, 2].tolist() == [0, 0, 1, 0, 0]
    assert kept.sum(2).tolist() == [[1, 1, 1]]


def test_a_row_reads_with_its_heads_and_weights_alone(tiny: Recognizer) -> None:
    for row in TABLES["heads"].rows:
        parts = row.settings.get("pgd_parts", PARTS)
        reads = row_setting(row.settings, tiny.engine, DecodingOptions(threshold=0.3))
        assert isinstance(reads.engine, Uncorrected) == ("SCH" not in row.name)
        weights = (reads.decoding.left_weight, reads.decoding.right_weight)
        assert weights == tuple(float(part in parts) for part in ("left", "right"))
        assert reads.decoding.threshold == 0.3
    for row in TABLES["edges"].rows:
        decoding = row_setting(row.settings, tiny.engine, DecodingOptions()).decoding
        assert row.name == f"{decoding.left_weight:g}:{decoding.right_weight:g}"


def test_inference_time_rows_are_measured_kept_and_marked(
    checkpoint: Path,  # noqa: F811
    pack: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    results = tmp_path / "ablations.json"
    common = ["--data", str(pack), "--results", str(results), "--set", f"output={tmp_path / 'no'}"]
    assert main(["ablate", "heads", *common]) == 0
    assert capsys.readouterr().out.count(NOT_RUN) == 6
    for _ in range(2):  # the second time replaces the first
        assert main(["ablate", "heads", *common, "--model", str(checkpoint), "--threads", "1"]) == 0
    assert NOT_RUN not in capsys.readouterr().out
    rows = json.loads(results.read_text())["rows"]
    assert [row["row"] for row in rows] == [row.name for row in TABLES["heads"].rows]
    assert {(row["kind"], row["total"], row["data"]) for row in rows} == {
        ("inference-time", 16, "sixteen.npz")
    }
    table = results.with_suffix(".md").read_text()
    assert "| LCH + RCH + SCH | 60.51 / 60.24 / 61.72 | 0.00 (0.0 to 19.4) |" in table
    assert NOT_RUN in table  # the other tables
    assert main(["ablate", "window", *common, "--model", str(checkpoint)]) == 2
    assert main(["ablate", "windows", *common]) == 2
    results.write_text("{}")
    with pytest.raises(DataError, match="no results"):
        Results.load(results)


@pytest.mark.slow
def test_rows_are_trained_once_and_measured(
    pack: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    base = tmp_path / "mine.toml"
    base.write_text(f'base = "edge"\noutput = "{tmp_path / "mine"}"\n')
    less = ["widths=[8, 8, 16, 16]", "blocks=[0, 0, 0, 0]", "vat_width=16", "pgd_width=16"]
    settings = [*SMALL, *PLAIN, *less, "symbol_height=10"]
    settings += [f'train=["{pack}"]', 'validation=""', "batch_size=16"]
    command = ["ablate", "window", "--train", "--config", str(base), "--epochs", "1"]
    command += ["--data", str(pack), *(word for s in settings for word in ("--set", s))]
    try:
        assert main(command) == 0
        monkeypatch.setattr(runs_module, "train", _never)
        assert main(command) == 0
    finally:
        torch.set_num_threads(threads)
    rows = json.loads((tmp_path / "ablations.json").read_text())["rows"]
    assert [row["kind"] for row in rows] == ["trained, edge"] * 3
    assert {row["note"] for row in rows} == {"1 of 1 epochs, shortened"}
    assert len({row["model"] for row in rows}) == 3
    assert "1 of 1 epochs, shortened" in capsys.readouterr().out


def _never(*_: object, **__: object) -> None:
    raise AssertionError("trained again")
