"""Other recognizers on the same formulas: `namer-edge benchmark --peer`."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from namer_edge_benchmarks.adapters import adapter
from namer_edge_benchmarks.peers import Peer, in_own_process, measure, peer_page
from namer_edge_runtime import command
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.model_file import ModelFile

ADAPTERS = Path(__file__).parents[2] / "benchmarks" / "peers"
STAYING = """
import sys
for number, line in enumerate(sys.stdin):
    if number == 2:
        print()
    elif number > 3:
        break
    else:
        print(line.strip()[-4:], number, flush=True)
"""


def staying(code: str) -> str:
    return shlex.join([sys.executable, "-uc", code, "-"])


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


def test_a_command_that_stays_answers_line_by_line() -> None:
    with adapter(staying(STAYING)) as read:
        assert read(Path("a.png")) == ".png 0"
        assert read(Path("b.png")) == ".png 1"
        with pytest.raises(ValueError, match="no answer"):
            read(Path("c.png"))
        assert read(Path("d.png")) == ".png 3"
        for _ in range(2):  # it has left the loop
            with pytest.raises(ChildProcessError, match="has ended"):
                read(Path("e.png"))


def count_strokes(path: Path) -> str:
    return str(len(json.loads(path.read_text())))


def test_a_recognizer_of_ink_gets_strokes(tiny_pack: Path, tiny_folder: Path) -> None:
    row = measure(Peer("strokes", f"{__name__}:count_strokes", str(tiny_pack), ink=True))
    assert row.accuracy is not None
    assert row.accuracy.exprate == 25.0  # the formula `1`, of one stroke
    with pytest.raises(UsageError, match="no label"):
        measure(Peer("strokes", f"{__name__}:count_strokes", str(tiny_folder), ink=True))


def test_formulas_beyond_a_peers_symbols_can_be_left_out(tiny_pack: Path) -> None:
    row = measure(Peer("ones", f"{__name__}:read_by_number", str(tiny_pack), only=("1",)))
    assert row.accuracy is not None
    assert row.accuracy.total == 2  # `1` and `1 1 1`
    with pytest.raises(UsageError, match="y alone"):
        measure(Peer("ones", f"{__name__}:read_by_number", str(tiny_pack), only=("y",)))


@pytest.mark.parametrize(
    ("script", "modules", "ink"),
    [
        (
            "mathnote.py",
            {
                "torch": "set_num_threads = int",
                "mathnote_ocr": "class MathOCR:\n"
                "    def detect(self, strokes):\n"
                "        print('this is no answer')\n"
                "        self.latex = str(len(strokes[0][0]) - 1)\n"
                "        return self\n",
            },
            True,
        ),
        (
            "pmsh_ocr.py",
            {
                "cv2": "imread = str",
                "onnxruntime": "class SessionOptions: pass\nInferenceSession = dict",
                "pmsh": "class PMSHOCR:\n"
                "    def inference(self, image):\n"
                "        return {'ctc_text': '1' if image.endswith('.png') else ''}\n",
            },
            False,
        ),
    ],
)
def test_the_adapters_speak_as_is_asked_of_them(
    script: str,
    modules: dict[str, str],
    ink: bool,
    tiny_pack: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, code in modules.items():
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    command = shlex.join([sys.executable, str(ADAPTERS / script), "-"])
    row = measure(Peer("made up", command, str(tiny_pack), ink=ink))
    assert row.failed == {}
    assert row.accuracy is not None
    assert row.accuracy.exprate == 25.0


def test_what_is_no_adapter_is_a_row_that_says_so(tiny_pack: Path) -> None:
    with pytest.raises(UsageError, match="module:function"), adapter("recognize"):
        pass
    with pytest.raises(UsageError, match="cannot be started"), adapter("no-such-program -"):
        pass
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
    assert kept["rows"][0]["trial"]["loose"]  # both are judged alike
    assert kept["peers"][0]["accuracy"]["total"] == 1
