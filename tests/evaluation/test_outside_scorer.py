"""Our rates equal those of a scorer that knows none of our code, on made-up answers."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from namer_edge.data.labels import Label, read_labels
from namer_edge.evaluation.exprate import rate
from namer_edge.evaluation.pairing import Answer, pair


@pytest.fixture
def scorer(shared_data: Path) -> Path:
    """A script `score.py RESULTS.jsonl LABELS.tsv [--loose]` beside the data."""
    path = shared_data.parent / "tools" / "score.py"
    if not path.is_file():
        pytest.skip("no tools/score.py beside the data")
    return path


def made_up_answers(labels: list[Label], seed: int) -> list[Answer]:
    """Right answers, near misses, blank pages, failures and files that are missing altogether."""
    chance = random.Random(seed)
    answers = []
    for label in labels:
        source = chance.choice(["", "folder/", "set.zip::", "set.zip::inner/"]) + label.name
        if "." not in label.name:
            source += ".inkml"
        tokens = label.latex.split()
        for _ in range(chance.choice([0, 0, 0, 1, 1, 2, 3])):
            place = chance.randrange(len(tokens) + 1)
            tokens[place : place + chance.randrange(2)] = chance.choice([[], ["x"], ["2"]])
        kind = chance.random()
        if kind < 0.05:
            answers.append(Answer(source, error="cannot be read"))
        elif kind < 0.1:
            answers.append(Answer(source, ""))
        elif kind < 0.95:
            answers.append(Answer(source, " ".join(tokens)))
    return answers


def outside_rates(scorer: Path, labels: Path, lines: list[dict[str, object]], *extra: str) -> str:
    results = "".join(json.dumps(line) + "\n" for line in lines)
    path = labels.parent / "results.jsonl"
    path.write_text(results, encoding="utf-8")
    command = [sys.executable, str(scorer), str(path), str(labels), *extra]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def printed(labels: list[Label], answers: list[Answer], *, loose: bool = False) -> str:
    readings = pair(labels, answers, loose=loose).readings
    measured = rate(readings)
    missing = sum(reading.read is None for reading in readings)
    return (
        f"{measured.exprate:.2f} % exact ({measured.exact}/{measured.total}), "
        f"<=1 {measured.exprate_le1:.2f}, <=2 {measured.exprate_le2:.2f}, no result {missing}"
    )


def as_json(answer: Answer, latex: str | None = None) -> dict[str, object]:
    if answer.error:
        return {"source": answer.source, "error": {"type": "InkError", "message": answer.error}}
    canonical = answer.canonical
    return {"source": answer.source, "canonical": canonical, "latex": latex or canonical}


@pytest.mark.parametrize("year", [2014, 2016])
def test_strict_rates_of_a_crohme_set(
    year: int, shared_data: Path, scorer: Path, tmp_path: Path
) -> None:
    path = tmp_path / "labels.tsv"
    path.write_bytes((shared_data / "crohme" / f"labels-test{year}.tsv").read_bytes())
    labels = read_labels(path)
    answers = made_up_answers(labels, seed=year)
    outside = outside_rates(scorer, path, [as_json(answer) for answer in answers])
    assert outside.startswith(printed(labels, answers))


@pytest.mark.parametrize("folder", ["scans", "photos"])
def test_loose_rates_of_pictures(
    folder: str, shared_data: Path, scorer: Path, tmp_path: Path
) -> None:
    """Answers are other rows' labels and damaged own ones, in canonical form."""
    from namer_edge_runtime.formula.tokens import normalize

    path = tmp_path / "labels.tsv"
    path.write_bytes((shared_data / folder / "labels.tsv").read_bytes())
    labels = read_labels(path)
    readable = [
        Label(label.name, " ".join(normalize(label.latex)))
        for label in labels
        if label.in_vocabulary
    ]
    chance = random.Random(folder)
    answers = []
    for label in readable:
        tokens = label.latex.split()
        plain = [i for i, token in enumerate(tokens) if re.fullmatch(r"[0-9a-z+=-]", token)]
        for place in chance.sample(plain, min(len(plain), chance.randrange(4))):
            tokens[place] = chance.choice(["x", "7", "-"])
        if chance.random() < 0.1:
            tokens = chance.choice(readable).latex.split()
        if chance.random() < 0.95:
            answers.append(Answer(f"set.zip::{label.name}", " ".join(tokens)))
    outside = outside_rates(scorer, path, [as_json(answer) for answer in answers], "--loose")
    assert outside.startswith(printed(labels, answers, loose=True))
