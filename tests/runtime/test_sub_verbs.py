"""Sub-verbs, and the module names they had before."""

import subprocess
import sys
from pathlib import Path

import pytest

from namer_edge_runtime.command import main

FORMER = {
    "namer_edge.data.school": ("data", "school"),
    "namer_edge.evaluation.steadiness": ("evaluate", "robustness"),
    "namer_edge.evaluation.doubt": ("evaluate", "unknown-signs"),
    "namer_edge.training.mean": ("train", "average"),
    "namer_edge_benchmarks.runtime_targets": ("benchmark", "targets"),
    "namer_edge_benchmarks.readme_tables": ("benchmark", "tables"),
    "namer_edge_runtime.server.load_test": ("demo", "load-test"),
}


@pytest.mark.parametrize(("module", "verbs"), FORMER.items(), ids=FORMER)
def test_a_sub_verb_says_what_it_takes_and_its_former_module_name_does_the_same(
    module: str, verbs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verbs, "--help"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: namer-edge {' '.join(verbs)} ")
    former = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(former, capture_output=True, text=True, check=True)
    assert {o for o in done.stdout.split() if o.startswith("--")} <= set(told.split())
    assert done.stdout.startswith("usage: ")


def test_a_sheet_shows_each_symbol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symbols", "--sheet", str(tmp_path / "signs.html")]) == 0
    listed = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    page = (tmp_path / "signs.html").read_text("utf-8")
    assert page.count("<math") == page.count("<code>") == len(listed) > 100
    assert "<code>&lt;</code>" in page
    assert main(["symbols", "--sheet", str(tmp_path / "no" / "signs.html")]) == 2
