"""Speed, memory and cost of models on this machine: `namer-edge benchmark`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from namer_edge_benchmarks.configuration import Configuration, Row, Spread
from namer_edge_benchmarks.energy import joules, read_energy
from namer_edge_benchmarks.worker import measure
from namer_edge_runtime import command
from namer_edge_runtime.model_file import ModelFile

from .conftest import FORMULAS

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = (sys.executable, "-m", "namer_edge_runtime.command")


def trial(data: Path, model: ModelFile, **options: object) -> Configuration:
    return Configuration(str(data), str(model.path), **options)  # type: ignore[arg-type]


def test_each_stage_is_timed_and_the_stages_make_up_the_whole(
    tiny_pack: Path, tiny_model: ModelFile
) -> None:
    measured = measure(trial(tiny_pack, tiny_model))
    # In a model of a few operations the encoder is not always to be told from the graph.
    first = ["encoder + vat"] if "encoder + vat" in measured.stages else ["encoder", "vat"]
    assert list(measured.stages) == ["prepare", *first, "pgd", "path", "latex"]
    total = sum(stage.mean for stage in measured.stages.values())
    assert total == pytest.approx(measured.whole.mean, rel=0.01)
    assert measured.formulas == len(FORMULAS)
    assert measured.fps == pytest.approx(1000 / measured.whole.mean, rel=0.1)
    assert measured.file_bytes == sum(part.bytes for part in tiny_model.parts.values())
    assert measured.accuracy is not None
    assert measured.accuracy.exprate == 100.0
    assert measured.size is not None
    assert measured.size[2] >= 3  # <sos>, <eos> and a symbol


def test_batches_read_the_same(tiny_pack: Path, tiny_model: ModelFile) -> None:
    measured = measure(trial(tiny_pack, tiny_model, batch=2, as_pictures=True))
    assert measured.accuracy is not None
    assert measured.accuracy.exprate == 100.0


def test_a_picture_that_fails_is_named_and_in_no_average(
    tiny_folder: Path, tiny_model: ModelFile
) -> None:
    measured = measure(trial(tiny_folder, tiny_model))
    assert [Path(name).name for name in measured.failed] == ["broken.png"]
    assert measured.formulas == len(FORMULAS)


def test_what_cannot_run_is_a_row_that_says_so_and_the_rest_goes_on(
    tiny_pack: Path, tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    words = ["benchmark", tiny_pack, "--model", tiny_model.path, "--limit", 2, "--json", out]
    engines = ["--engine", "abacus", "--engine", "onnxruntime"]
    assert command.main([*map(str, words), *engines]) == 1
    printed = capsys.readouterr().out
    assert "no engine 'abacus'" in printed
    assert "tiny fp32" in printed
    kept = json.loads(out.read_text())
    refused, ran = (Row.from_json(row) for row in kept["rows"])
    assert refused.measured is None
    assert ran.measured is not None
    assert ran.measured.formulas == 2
    assert json.loads(json.dumps(ran.to_json())) == kept["rows"][1]
    assert kept["machine"]["versions"]["numpy"]


def test_data_that_is_not_there_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["benchmark", "nowhere.npz"]) == 1
    assert "nowhere.npz: not there" in capsys.readouterr().out


def test_a_spread_tells_the_slowest_from_the_usual() -> None:
    spread = Spread.of([1.0] * 9 + [11.0])
    assert (spread.mean, spread.median) == (2.0, 1.0)
    assert 1.0 < spread.p95 < 11.0


def test_energy_is_what_all_packages_took(tmp_path: Path) -> None:
    for number in range(2):
        domain = tmp_path / f"intel-rapl:{number}"
        domain.mkdir()
        (domain / "energy_uj").write_text("1000000\n")
    before = read_energy(tmp_path)
    assert joules(before, {name: value + 500_000 for name, value in before.items()}) == 1.0
    assert joules(before, dict.fromkeys(before, 0)) is None  # the counters began again
    assert joules({}, {}) is None


def test_a_model_file_is_measured_where_torch_is_not_installed(tmp_path: Path) -> None:
    """As on a board, whose base install has no extra; `worker` is a process of its own as well."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfor name in ('torch', 'scipy', 'onnx'): sys.modules[name] = None\n"
    )
    data = tmp_path / "data"
    data.mkdir()
    for name in ("half.inkml", "root.png", "square.png"):
        shutil.copy(EXAMPLES / name, data)
    places = (str(tmp_path), os.environ.get("PYTHONPATH", ""), *sys.path)
    done = subprocess.run(
        [*COMMAND, "benchmark", str(data), "--limit", "2", "--json", str(tmp_path / "out.json")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert rows[0]["measured"]["formulas"] == 2
