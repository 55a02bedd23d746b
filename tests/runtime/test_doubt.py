"""What `recognize` prints says how far it can be trusted, and breaks no script that reads it."""

import argparse
import io
import sys
from pathlib import Path

import pytest

from namer_edge_runtime import command
from namer_edge_runtime.verbs import output, symbols

from .conftest import Run
from .drawing import picture, png


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(output, "DOUBTFUL", 1.1)  # the tiny model is sure of all it reads
    (tmp_path / "a.png").write_bytes(png(picture("1 - 1")))
    return tmp_path / "a.png"


def test_a_score_follows_each_formula(recognize: Run, one: Path) -> None:
    code, printed, errors = recognize(one, "--scores", "--alternatives", "2")
    name, latex, score, *others = printed.rstrip("\n").split("\t")
    assert (code, name, latex, errors) == (0, str(one), "1-1", "")
    assert 0.5 < float(score) <= 1
    assert len(others) % 2 == 0
    assert all(0 <= float(number) <= float(score) for number in others[1::2])


def test_lines_for_scripts_stay_and_standard_error_tells_of_doubt(
    recognize: Run, one: Path
) -> None:
    code, printed, errors = recognize(one)
    assert (code, printed) == (0, f"{one}\t1-1\n")
    assert "1 of 1 readings more likely wrong than right" in errors
    assert "--scores" in errors
    assert recognize(one, "--scores")[2] == ""
    assert recognize(one, "--format", "json")[2] == ""


@pytest.mark.parametrize(("terminal", "mark"), [("dumb", "  ?  0.8"), ("xterm", "  \x1b[2m?  0.8")])
def test_a_terminal_shows_a_mark(
    recognize: Run, one: Path, monkeypatch: pytest.MonkeyPatch, terminal: str, mark: str
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    _, _, errors = recognize(one)
    assert f"{one}\t1-1{mark}" in screen.getvalue()
    assert "likely" not in errors
    monkeypatch.setattr(output, "DOUBTFUL", 0.5)
    recognize(one)
    assert screen.getvalue().endswith(f"{one}\t1-1\n")


def test_json_and_graphs_need_no_scores(recognize: Run, one: Path) -> None:
    for more in (("--jsonl", "-"), ("--format", "json"), ("--format", "label-graph")):
        code, _, errors = recognize(one, "--scores", *more)
        assert (code, "--scores" in errors) == (2, True)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("recognise a.png", "did you mean recognize?"),
        ("Recogniz a.png", "did you mean recognize?"),
        ("recognize a.png --alternativs 3", "did you mean --alternatives?"),
        ("recognize a.png --formt=json", "did you mean --format?"),
        ("data pack a --lables b -o c", "did you mean --labels?"),
        ("data pck a", "did you mean pack?"),
        ("data pack a --form chrome -o c", "did you mean crohme?"),
        ("data stats a.npz symbol_hieght=3", "did you mean 'symbol_height'?"),
    ],
)
def test_did_you_mean(line: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(line.split()) == 2
    assert meant in capsys.readouterr().err


def test_a_wild_guess_gets_no_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["recognize", "a.png", "--juggle"]) == 2
    assert "did you mean" not in capsys.readouterr().err


def test_the_command_line_names_its_own_option(recognize: Run, one: Path) -> None:
    code, _, errors = recognize(one, "--device", "cuda")
    assert code == 3
    assert "--fallback" in errors
    assert "fallback=True" not in errors


def test_the_symbols_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    symbols.configure(parser)
    assert symbols.run(parser.parse_args([])) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 107
    assert ["\\alpha", "\\alpha"] in lines
    assert ["\\frac", "\\frac{…}{…}"] in lines
    assert ["^", "{}^{…}"] in lines
