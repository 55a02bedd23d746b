"""The field bench reads what is right clean again, and counts and keeps what is read wrong."""

import json
from pathlib import Path
from typing import Any

import cv2
import pytest

from namer_edge.data.field.conditions import Condition, chosen
from namer_edge.evaluation.exprate import wilson_interval
from namer_edge.evaluation.field import (
    Failures,
    FieldReport,
    InkSample,
    field_readings,
    ink_samples,
    right_clean,
)
from namer_edge.evaluation.robustness import Drawing
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import DataError, InkError
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.result import Result

from ..handwriting import WRITTEN, written

EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLES = [
    InkSample(f"f{number}", written(number).strokes, WRITTEN[number][0])
    for number in range(len(WRITTEN))
]


class ReadsCleanInk:
    """Reads strokes and clean pictures of all formulas but the first two, and no other input; it
    refuses those in InkML."""

    preprocessing = Preprocessing()

    def __init__(self) -> None:
        self.known = {Drawing().png(s.strokes): s.label for s in SAMPLES[1:]}
        self.ink = {id(s.strokes[0]): s.label for s in SAMPLES if s is not SAMPLES[1]}

    def each(self, inputs: list[Any], batch_size: int = 8) -> list[Any]:
        return [self._read(value) for value in inputs]

    def _read(self, value: Any) -> Any:
        if isinstance(value, bytes) and value.startswith(b"<?xml"):
            return InkError("no InkML,\nplease")
        known = None
        if isinstance(value, bytes):
            known = self.known.get(value)
        elif isinstance(value, list):
            known = self.ink.get(id(value[0]))
        return Result("", known or "?", 0.25, ())


def picked(*names: str) -> tuple[Condition, ...]:
    return tuple(one for one in chosen(names) if one.name in names)


def test_formulas_are_those_that_are_read_right_as_ink_and_as_a_picture() -> None:
    reader: Any = ReadsCleanInk()
    right, tried = right_clean(reader, SAMPLES, 100, seed=1, batch_size=3)
    assert tried == len(SAMPLES)
    assert {s.name for s in right} == {s.name for s in SAMPLES[2:]}
    some, tried = right_clean(reader, SAMPLES, 5, seed=1, batch_size=3)
    assert some == right[:5]
    assert 5 <= tried < len(SAMPLES)
    assert [s.name for s in right_clean(reader, SAMPLES, 5, seed=2)[0]] != [s.name for s in some]


def test_a_condition_is_counted_with_its_interval_and_its_failures_are_kept(
    tmp_path: Path,
) -> None:
    reader: Any = ReadsCleanInk()
    several = picked("scan border", "JPEG blocks", "values", "two contexts", "squared + box")
    report = FieldReport(seed=1, half="report", formulas=4, tried=5)
    failures = Failures(tmp_path / "wrong", reader)
    for reading in field_readings(reader, SAMPLES[2:6], several, 1, "report", batch_size=3):
        report.add(reading)
        assert not reading.right
        failures.add(reading)
    failures.finish()
    told = report.to_json()
    assert [row["name"] for row in told["conditions"]] == [one.name for one in several]
    for row in told["conditions"]:
        assert (row["total"], row["right"], row["percent"]) == (4, 0, 0.0)
        assert row["without_answer"] == (4 if row["name"] == "two contexts" else 0)
        assert row["wrong"] == ["f2", "f3", "f4", "f5"]
    rates = report.rates()
    assert told["conditions"][0]["interval"][1] == round(wilson_interval(rates[several[0]])[1], 2)
    assert "scan border        0/4    0.0   0.0 to 49.0" in report.text()
    assert "picture, pairs: mean 0.0 %; 0 of 1 reach 80 %" in report.text()
    lines = (tmp_path / "wrong" / "failures.tsv").read_text("utf-8").splitlines()[1:]
    assert len(lines) == 4 * len(several)
    for line in lines:
        file, condition, label, read, score = line.split("\t")
        path = tmp_path / "wrong" / file
        assert path.is_file()
        assert cv2.imread(str(path.with_suffix(".png" if path.suffix != ".jpg" else ".jpg"))).size
        assert label in {s.label for s in SAMPLES}
        assert (read, score) == (
            ("no InkML, please", "") if condition == "two contexts" else ("?", "0.250")
        )
    assert {Path(line.split("\t")[0]).suffix for line in lines} == {
        *(".png", ".jpg", ".json", ".inkml")
    }


def test_what_is_read_right_counts() -> None:
    class ReadsAll(ReadsCleanInk):
        def _read(self, value: Any) -> Any:
            return Result("", SAMPLES[3].label, 0.9, ())

    reader: Any = ReadsAll()
    report = FieldReport(0, "tune", 1, 1)
    for reading in field_readings(reader, SAMPLES[3:4], picked("taps", "pencil"), 0, "tune"):
        assert reading.right
        report.add(reading)
    assert {r.exprate for r in report.rates().values()} == {100.0}


def test_only_labeled_ink_is_taken(tmp_path: Path) -> None:
    samples = ink_samples(EXAMPLES, None)
    assert {s.name for s in samples} == {path.stem for path in EXAMPLES.glob("*.inkml")}
    labels = tmp_path / "labels.tsv"
    labels.write_text("half.inkml\t1 + 1\n", "utf-8")
    assert [(s.name, s.label) for s in ink_samples(EXAMPLES, labels)] == [("half", "1 + 1")]
    with pytest.raises(DataError, match="no labeled ink"):
        ink_samples(EXAMPLES / "half.png", None)


def test_the_verb_reads_the_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    field = ["evaluate", str(EXAMPLES), "--field", "3", "--threads", "1"]
    out = tmp_path / "field.json"
    options = ["--formulas", "2", "--condition", "timed", "--condition", "values"]
    assert main([*field, *options, "--json", str(out)]) == 2
    assert "no condition 'timed'" in capsys.readouterr().err
    options = ["--formulas", "2", "--condition", "values", "--half", "report"]
    assert main([*field, *options, "--json", str(out)]) == 0
    assert "field bench, seed 3, half report: 2 formulas" in capsys.readouterr().out
    told = json.loads(out.read_text("utf-8"))
    assert [(row["name"], row["right"]) for row in told["conditions"]] == [("values", 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give DATA"),
        (["examples", "--condition", "ink", "--half", "tune"], "--half, --condition: for the"),
        (["examples", "--field", "-1"], "no whole number from 0 on"),
        (["examples", "--field", "1", "--loose"], "--loose: not for the field bench"),
        (["--field", "1"], "test2013.npz"),
    ],
)
def test_wrong_options_are_told(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", *arguments]) in (1, 2)
    assert message in capsys.readouterr().err
