"""`namer-edge evaluate`, with a recognizer that has learned the answers by heart."""

import json
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from namer_edge.data.crohme import load_crohme
from namer_edge.data.pack import Pack, save_pack
from namer_edge.evaluation.samples import pack_samples
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import NamerEdgeError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

EXAMPLES = Path(__file__).parents[2] / "examples"
TRUTHS = {
    "square": "x ^ { 2 } + 1",
    "half": "\\frac { 1 } { 2 }",
    "sum": "a + b = 3",
    "root": "\\sqrt { x }",
    "line": "y = 2 x + 5",
    "bracket": "( a - b ) ^ { 2 }",
}


class ByHeart:
    """Gives a written-down answer to every picture it has seen, to `root` a wrong one."""

    engine = SimpleNamespace(name="heart", device="CPU", precision="fp32")

    def __init__(self) -> None:
        self.known = {
            self._key(path): "\\sqrt { 2 }" if path.stem == "root" else TRUTHS[path.stem]
            for path in EXAMPLES.iterdir()
            if path.suffix in (".inkml", ".png")
        }

    @staticmethod
    def _key(value: Any) -> bytes:
        return prepare_input(value, Preprocessing()).image.tobytes()

    def each(
        self, inputs: Sequence[Any], batch_size: int, alternatives: int
    ) -> list[Result | NamerEdgeError]:
        answers: list[Result | NamerEdgeError] = []
        for value in inputs:
            try:
                canonical = self.known.get(self._key(value), "")
                answers.append(Result(canonical, canonical, 1.0))
            except NamerEdgeError as error:
                answers.append(error)
        return answers


@pytest.fixture(autouse=True)
def by_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recognizer, "from_pretrained", lambda *_, **__: ByHeart())
    monkeypatch.setattr(ModelFile, "open", lambda *_: SimpleNamespace(name="by-heart"))


@pytest.fixture
def ink(tmp_path: Path) -> Path:
    folder = tmp_path / "ink"
    folder.mkdir()
    for path in EXAMPLES.glob("*.inkml"):
        shutil.copy(path, folder)
    return folder


@pytest.fixture
def evaluate(tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    def run(*arguments: object) -> tuple[int, dict[str, Any]]:
        out = tmp_path / "report.json"
        out.unlink(missing_ok=True)
        code = main(["evaluate", *map(str, arguments), "--json", str(out)])
        return code, json.loads(out.read_text("utf-8")) if out.exists() else {}

    return run


Evaluate = Callable[..., tuple[int, dict[str, Any]]]


def test_a_folder_of_ink_by_its_own_truths(ink: Path, evaluate: Evaluate) -> None:
    code, report = evaluate(ink)
    assert code == 0
    assert (report["total"], report["exact"], report["unreadable"]) == (6, 5, 0)
    assert (report["exprate"], report["exprate_le1"], report["exprate_le2"]) == (83.33, 100, 100)
    assert report["protocol"].startswith("strict canonical tokens, all files; labels: the InkML")
    assert report["by_structure"]["root"]["exprate"] == 0
    assert report["confusions"] == [
        {"kind": "substitution", "label": "x", "read": "2", "count": 1, "files": 1}
    ]
    assert (report["model"], report["engine"]) == ("by-heart", "heart")
    assert report["interval"][0] < 83.33 < report["interval"][1]


def test_a_zip_of_ink_with_a_bad_file_and_a_label_without_file(
    ink: Path, tmp_path: Path, evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    (ink / "empty.inkml").touch()
    archive = tmp_path / "ink.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in ink.iterdir():
            file.write(path, f"inner/{path.name}")
    labels = tmp_path / "labels.tsv"
    truths = {**TRUTHS, "empty": "x", "gone": "y"}
    labels.write_text("".join(f"{name}\t{label}\n" for name, label in truths.items()), "utf-8")
    dump = tmp_path / "files.jsonl"
    code, report = evaluate(archive, "--labels", labels, "--jsonl", dump)
    assert code == 1
    assert (report["total"], report["exact"], report["unreadable"]) == (8, 5, 2)
    assert {file["name"] for file in report["unreadable_files"]} == {"empty", "gone"}
    assert "gone: no such file among the inputs" in capsys.readouterr().out
    lines = [json.loads(line) for line in dump.read_text("utf-8").splitlines()]
    assert [line["source"].rpartition("/")[2] for line in lines] == [
        f"{name}.inkml" for name in sorted([*TRUTHS, "empty"])
    ]
    errors = {line["source"].rpartition("/")[2]: line["errors"] for line in lines}
    assert (errors["root.inkml"], errors["sum.inkml"], errors["empty.inkml"]) == (1, 0, None)


def test_unreadable_ink_without_labels_counts_as_wrong(ink: Path, evaluate: Evaluate) -> None:
    (ink / "cut.inkml").write_bytes((ink / "sum.inkml").read_bytes()[:900])
    truth = (ink / "half.inkml").read_text("utf-8").replace("\\frac{1}{2}", "\\frac{1}{")
    (ink / "broken.inkml").write_text(truth, "utf-8")
    code, report = evaluate(ink)
    assert code == 1
    assert (report["total"], report["exact"], report["unreadable"]) == (8, 5, 2)


def test_pictures_with_a_heading_in_their_labels(
    tmp_path: Path, evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.tsv"
    rows = [f"{name}.png\t{label.replace(' ', '')}\tyes" for name, label in TRUTHS.items()]
    rows[0] = rows[0].replace("yes", "no")
    labels.write_text("\n".join(["name\tlatex\tin_crohme_vocabulary", *rows]), "utf-8")
    code, report = evaluate(EXAMPLES, "--labels", labels, "--loose")
    assert code == 0
    assert (report["total"], report["exprate"]) == (5, 80.0)
    assert report["protocol"].startswith("loose")
    assert "5 of 6 files marked" in report["protocol"]
    assert evaluate(EXAMPLES, "--labels", labels, "--loose", "--all-rows")[1]["total"] == 6
    labels.write_text(labels.read_text("utf-8").replace("yes", "no"), "utf-8")
    code, report = evaluate(EXAMPLES, "--labels", labels, "--loose")
    assert (code, report["total"]) == (1, 0)  # nothing was counted
    labels.write_text(labels.read_text("utf-8").replace("\tno", "\tmaybe"), "utf-8")
    assert main(["evaluate", str(EXAMPLES), "--labels", str(labels)]) == 1
    assert "line 2: the third column says 'maybe'" in capsys.readouterr().err


def test_pictures_need_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(EXAMPLES / "sum.png", tmp_path)
    assert main(["evaluate", str(tmp_path)]) == 2
    assert "--labels" in capsys.readouterr().err


def test_what_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(tmp_path / "nothing")]) == 1
    assert "nothing" in capsys.readouterr().err
    assert main(["evaluate", str(EXAMPLES), "--labels", str(tmp_path / "none.tsv")]) == 1
    assert "none.tsv" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json", "--jsonl"])
def test_an_output_that_cannot_be_written_is_said_before_the_work(
    option: str,
    ink: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Recognizer, "from_pretrained", lambda *_, **__: pytest.fail("work began"))
    assert main(["evaluate", str(ink), option, str(tmp_path / "gone" / "out")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    labels = tmp_path / "labels.tsv"
    labels.write_text("a\tx\n", "utf-8")
    for target in (labels, next(ink.iterdir())):
        assert main(["evaluate", str(ink), "--labels", str(labels), option, str(target)]) == 2
        assert f"{target} is read, and would be lost" in capsys.readouterr().err


def test_the_report_on_standard_output_stands_alone(
    ink: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(ink), "--json", "-"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["total"] == 6
    assert "ExpRate 83.33 % exact (5/6" in captured.err


def test_a_pack(ink: Path, tmp_path: Path, evaluate: Evaluate) -> None:
    (ink / "empty.inkml").touch()
    labels = tmp_path / "labels.tsv"
    named = {name: label for name, label in TRUTHS.items() if name != "line"}
    labels.write_text("".join(f"{name}\t{label}\n" for name, label in named.items()), "utf-8")
    loaded = load_crohme(ink, labels)
    path = tmp_path / "ink.npz"
    save_pack(path, Pack(loaded.formulas, loaded.report, {}))
    labeled = [sample for sample in pack_samples(path) if sample.label is not None]
    assert len(labeled) == 6  # five formulas and the file that could not be read
    code, report = evaluate(path)
    assert code == 1
    assert (report["total"], report["exact"], report["unreadable"]) == (6, 4, 1)
    assert report["unlabeled"] == ["line"]
