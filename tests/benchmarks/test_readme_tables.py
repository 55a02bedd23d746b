"""What the page says of speed is what the runs of record measured."""

import json
from pathlib import Path

import pytest

from namer_edge_benchmarks import readme_tables as quotes
from namer_edge_benchmarks.end_to_end import open_whole
from namer_edge_benchmarks.machine import Machine
from namer_edge_benchmarks.readme_tables import BEGIN, END, quoted
from namer_edge_benchmarks.table3 import compare
from namer_edge_benchmarks.table3_report import paper_json
from namer_edge_runtime import command
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.model_file import ModelFile

from .small_baselines import small_baselines
from .test_table3 import sample

ROOT = Path(__file__).parents[2]
EMPTY = f"# A page\n\n{BEGIN}\n{END}\n\nIts end.\n"


def test_the_page_quotes_the_runs_of_record() -> None:
    page = ROOT / quotes.PAGE
    text = page.read_text("utf-8")
    assert quoted(text, page.parent / quotes.RESULTS) == text, "run `namer-edge benchmark tables`"


def test_figures_follow_the_json(
    tiny_pack: Path, tiny_model: ModelFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / quotes.PAGE
    page.parent.mkdir()
    results = page.parent / quotes.RESULTS
    results.mkdir(parents=True)
    words = ["benchmark", str(tiny_pack), "--model", str(tiny_model.path), "--limit", "2"]
    peer = ["--ink-peer", "strokes=tests.benchmarks.test_peers:count_strokes", "--only", "1"]
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name, more in (("own", ["--both-looks"]), ("covered", peer)):
        out = ["--json", str(results / f"{name}.json")]
        assert command.main([*words, *more, *out]) == 0
    wholes = open_whole(str(tiny_model.path), 1)
    found = compare(small_baselines(), [sample(0)], (1, 10), recognizers=wholes)
    (results / "paper.json").write_text(json.dumps(paper_json(Machine.here(), found)))
    page.write_text(EMPTY)
    assert command.main(["benchmark", "tables", str(page)]) == 0
    text = page.read_text()
    assert "| tiny fp32 | onnxruntime | one |" in text
    assert "| CoMER | beam 10, both directions, uncached |" in text
    assert "| strokes |" in text
    assert "written with `1` alone" in text
    assert command.main(["benchmark", "tables", str(page)]) == 0
    assert page.read_text() == text
    run = json.loads((results / "own.json").read_text())
    run["rows"][0]["measured"]["fps"] = 12345.6
    (results / "own.json").write_text(json.dumps(run))
    assert quoted(text, results) != text


def test_a_page_without_results_or_without_a_block(tmp_path: Path) -> None:
    assert quoted(EMPTY, tmp_path) == EMPTY
    with pytest.raises(DataError, match="put these two lines"):
        quoted("# A page\n", tmp_path)
