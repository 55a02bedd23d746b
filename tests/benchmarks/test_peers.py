"""Other recognisers on the same pictures: `namer-edge benchmark --peer`."""

import json
import sys
from pathlib import Path

import pytest

from namer_edge_benchmarks.peers import Peer, in_own_process, measure, open_adapter, peer_page
from namer_edge_runtime import command
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.model_file import ModelFile


def read_by_number(path: Path) -> str:
    """A peer that knows the first formula, writes it in its own way and cannot read the last."""
    if path.stem == "3":
        raise ValueError("too many strokes")
    return "{1}-1" if path.stem == "0" else "x"


def test_a_function_reads_and_what_it_fails_at_is_named(tiny_pack: Path) -> None:
    row = measure(Peer("by number", f"{__name__}:read_by_number", str(tiny_pack)))
    assert row.accuracy is not None
    assert row.accuracy.exprate == 25.0  # one of four: the failed one counts, as wrong
    assert row.failed == {"3": "ValueError: too many strokes"}
    assert "| by number |" in peer_page([row])


def test_a_command_reads_in_its_own_process(tiny_pack: Path) -> None:
    command = f"{sys.executable} -c \"print('1', end='')\" {{}}"
    row = in_own_process(Peer("one", command, str(tiny_pack), 2))
    assert row.error == ""
    assert row.whole is not None
    assert row.whole.median > 0


def test_what_is_no_adapter_is_a_row_that_says_so(tiny_pack: Path) -> None:
    with pytest.raises(UsageError, match="module:function"):
        open_adapter("recognise")
    row = in_own_process(Peer("gone", "nowhere.to.be:found", str(tiny_pack)))
    assert "nowhere" in row.error
    assert "Not measured: gone" in peer_page([row])


def test_peers_stand_beside_our_own_model(
    tiny_pack: Path, tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    adapter = f"one={sys.executable} -c \"print('1')\" {{}}"
    words = ["--model", str(tiny_model.path), "--limit", "1", "--peer", adapter, "--json", str(out)]
    assert command.main(["benchmark", str(tiny_pack), *words]) == 0
    page = capsys.readouterr().out
    assert "| one |" in page
    assert "| tiny fp32 |" in page
    kept = json.loads(out.read_text())
    assert kept["rows"][0]["trial"]["as_pictures"]
    assert kept["peers"][0]["accuracy"]["total"] == 1
