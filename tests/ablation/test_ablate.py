"""Ablations: rows that are the paper's, measured on one model or trained, and told apart."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from namer_edge.ablation import runs as runs_module
from namer_edge.ablation import schedule
from namer_edge.ablation.engine import Remembering, Uncorrected
from namer_edge.ablation.measure import row_setting
from namer_edge.ablation.results import NOT_RUN, Measured, Results
from namer_edge.ablation.runs import runs
from namer_edge.ablation.tables import TABLES, Row
from namer_edge.model.graph_decoder import PARTS
from namer_edge.training import building
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
def test_a_row_is_what_its_configuration_says(table: str, row: Row) -> None:
    config, paper = load_config(row.config), load_config("paper-crohme")
    assert all(getattr(config, key) == value for key, value in row.settings.items())
    keys = TrainConfig.__dataclass_fields__
    differs = {key for key in keys if getattr(config, key) != getattr(paper, key)}
    assert differs <= {*row.settings, "output"}
    upon_edge = {run.name: run.config for run in runs(TABLES[table], "edge", [])}[row.name]
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


def measured(row: str, data: str, right: str, note: str = "12 of 12 epochs") -> Measured:
    rate = 100 * right.count("1") / len(right)
    return Measured(
        *("window", row, "trained, edge", data, data, row, "0", rate, rate, rate, (0.0, 100.0)),
        total=len(right),
        protocol="strict",
        note=note,
        right=right,
    )


def test_rows_are_compared_with_the_papers_over_all_sets_that_both_read(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json", [])
    for one in (
        measured("5 x 5", "a.npz", "1100" * 25),
        measured("5 x 5", "b.npz", "1" * 50),
        measured("3 x 3", "a.npz", "1010" * 25),
        measured("3 x 3", "b.npz", "1" * 40 + "0" * 10),
        measured("7 x 7", "a.npz", "1" * 100, note="3 of 12 epochs"),
        measured("7 x 7", "c.npz", "1" * 100),
    ):
        results.add(one)
    table = Results.load(results.path).lines("window")
    compared = [line for line in table if "a + b" in line]
    assert len(compared) == 1, "other schedules and other formulas are no comparison"
    row, kind, difference, formulas, lost, won = compared[0].strip("| ").split(" | ")
    assert (row, kind, formulas) == ("3 x 3", "trained, edge", "150, a + b")
    assert (lost, won) == ("35", "25")
    assert difference.startswith(f"{-1000 / 150:+.2f} (")
    low, high = (float(x) for x in difference.split("(")[1].strip(")").split(" to "))
    assert low < -1000 / 150 < high
    assert high - low == pytest.approx(2 * 1.96 * 100 * np.sqrt(60 - 100 / 150) / 150, rel=0.1)


def test_a_dry_run_prints_a_command_and_minutes_for_each_row_and_teacher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[TrainConfig] = []

    def seconds(config: TrainConfig) -> tuple[float, float]:
        seen.append(config)
        return (0.6, 6.0)

    monkeypatch.setattr(schedule, "seconds_of_a_sample", seconds)
    command = ["ablate", "teachers", "--config", "edge", "--epochs", "3", "--dry-run"]
    assert main([*command, "--teacher-set", "epochs=2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    minutes = [line for line in lines if "this CPU" in line]
    names = ("DWAP", "BTTR", "CAN", "CoMER")
    told = [word for name in names for word in (f"teacher paper-{name.lower()}", name)]
    assert [line.split(":")[0] for line in minutes] == told
    assert "2 of 2 epochs to go, 17,672 samples, GPU 177 min, this CPU 1,767 min" in minutes[0]
    assert "3 of 3 epochs to go, 26,508 samples, GPU 265 min, this CPU 2,651 min" in minutes[1]
    assert len(seen) == 5, "each architecture is measured once"
    assert main([*command, "--row", "CoMER", "--data", "a.npz", "b.npz"]) == 0
    words = shlex.split(capsys.readouterr().out.splitlines()[-1])
    assert words[:6] == ["namer-edge", "ablate", "teachers", "--row", "CoMER", "--train"]
    assert words[-3:] == ["--data", "a.npz", "b.npz"]
    assert main([*command, "--row", "WAP"]) == 2
    assert main(["ablate", "all", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "the run of" in line] == [
        f"{row}: the run of 1:1" for row in ("LCH + RCH + SCH", "5 x 5", "DWAP")
    ]
    assert sum(line.startswith("teacher paper-dwap") for line in lines) == 1


def test_a_sample_costs_what_the_model_does() -> None:
    small = load_config("edge", ["widths=[8, 8, 16, 16]", "blocks=[0, 0, 0, 0]"])
    gpu, cpu = schedule.seconds_of_a_sample(small)
    assert gpu == schedule.HOST_SECONDS  # so small that the host is what is waited for
    assert cpu > gpu
    cost = building.cost_of(load_config("paper-crohme"))
    forwards = sum(cost.flops.values())
    assert 3 * forwards / schedule.GPU_FLOPS > schedule.HOST_SECONDS


@pytest.mark.slow
def test_a_row_trains_its_teacher_first_and_goes_on_where_it_was_stopped(
    pack: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    less = ["encoder=edge", "widths=[8, 8, 16, 16]", "blocks=[0, 0, 0, 0]", "symbol_height=10"]
    less += [f'train=["{pack}"]', f'validation="{pack}"', "batch_size=16", "precision=fp32"]
    rows = [*SMALL, *PLAIN, *less, "vat_width=16", "pgd_width=16"]
    teacher = [*less, "epochs=2", "decoder_width=16", "decoder_heads=2", "attention_width=16"]
    command = ["ablate", "teachers", "--row", "CoMER", "--train", "--config", "edge"]
    command += ["--epochs", "1", "--threads", "1", "--data", str(pack)]
    command += [word for s in rows for word in ("--set", s)]
    command += [word for s in teacher for word in ("--teacher-set", s)]
    trained: list[tuple[str, bool]] = []

    def stopped(config: TrainConfig, resume: bool) -> bool:
        """The teacher is stopped after its first epoch."""
        trained.append((config.output, resume))
        first = replace(config, epochs=1) if len(trained) == 1 else config
        return runs_train(first, resume=resume) and len(trained) > 1

    runs_train = runs_module.train
    monkeypatch.setattr(runs_module, "train", stopped)
    try:
        assert main(command) == 130
        # Its own schedule is what says whether a teacher is finished.
        record = Path("runs/paper-comer/last.json")
        content = json.loads(record.read_text())
        content["config"]["epochs"] = 2
        record.write_text(json.dumps(content))
        assert main(command) == 0
        assert main(command) == 0
    finally:
        torch.set_num_threads(threads)
    row = "runs/edge-ablation-comer"
    assert trained == [("runs/paper-comer", False), ("runs/paper-comer", True), (row, False)]
    (measured,) = json.loads(Path("ablations.json").read_text())["rows"]
    assert (measured["row"], measured["note"]) == ("CoMER", "1 of 1 epochs, shortened")
    assert len(measured["right"]) == measured["total"] == 16


def _never(*_: object, **__: object) -> None:
    raise AssertionError("trained again")
