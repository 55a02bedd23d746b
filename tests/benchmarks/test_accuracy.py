"""Tables 1 and 2 of the paper beside a model of ours: `namer-edge benchmark --accuracy`."""

import json
from pathlib import Path

import pytest

from namer_edge_benchmarks.published import TABLE_1, TABLE_2
from namer_edge_runtime import command
from namer_edge_runtime.model_file import ModelFile


def test_published_rows_are_the_papers() -> None:
    namer = [method for method in TABLE_1 if method.name == "NAMER"]
    assert [method.augmented for method in namer] == [False, True]
    assert namer[0].rates[2] == (61.72, 75.31, 82.07)
    assert len(TABLE_1) == 29
    assert all(len(method.rates) == 3 for method in TABLE_1)
    assert TABLE_2[-1].rates == ((68.52, 83.10, 89.30),)
    assert all(
        rates[0] is None or all(r is None or r >= rates[0] for r in rates[1:])
        for method in (*TABLE_1, *TABLE_2)
        for rates in method.rates
    )


def test_ours_stands_below_what_was_published(
    tiny_pack: Path, tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = tmp_path / "out.json", tmp_path / "report.json"
    model = ["--model", str(tiny_model.path)]
    assert command.main(["evaluate", str(tiny_pack), *model, "--json", str(report)]) == 0
    capsys.readouterr()
    sets = ["--accuracy", f"2016={tiny_pack}", "--accuracy", f"HME100K={report}"]
    assert command.main(["benchmark", *model, *sets, "--json", str(out)]) == 0
    page = capsys.readouterr().out
    assert "| NAMER | yes | 64.77 | 78.38 | 85.08 |" in page
    assert "| **ours: tiny, onnxruntime, fp32** | – | – | – | – | 100.00 |" in page
    assert "### Table 2" in page
    assert "strict canonical tokens" in page
    read, told = json.loads(out.read_text())["sets"]
    assert read["exprate"] == told["exprate"] == 100.0
    assert told["total"] == 4


def test_what_has_no_labels_says_how_to_give_them(
    tiny_folder: Path, tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tiny_folder / "broken.png").unlink()
    model = ["--model", str(tiny_model.path)]
    assert command.main(["benchmark", *model, "--accuracy", f"2019={tiny_folder}"]) == 2
    assert "give 2019=OUT.json" in capsys.readouterr().err
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert command.main(["benchmark", "--accuracy", f"2019={other}"]) == 1
    assert "not what `namer-edge evaluate --json` writes" in capsys.readouterr().err


def test_options_that_would_do_nothing_are_refused(
    tiny_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["benchmark", "--accuracy", f"x={tiny_folder}", "--only", "x 1", "--batch", "8"]
    assert command.main(run) == 2
    assert "--batch, --only: of no use to --accuracy" in capsys.readouterr().err
    assert command.main(["benchmark", str(tiny_folder), "--beam", "3"]) == 2
    assert "--beam: of no use to a run of models" in capsys.readouterr().err
