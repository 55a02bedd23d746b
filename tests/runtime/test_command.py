"""The command line as scripts and people use it."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from namer_edge_runtime import command
from namer_edge_runtime.bulk import run as bulk
from namer_edge_runtime.bulk.input_files import Source, printable
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .conftest import Run
from .drawing import inkml, picture, png, save_inputs


def test_each_input_is_a_line_of_name_and_latex(recognize: Run, tmp_path: Path) -> None:
    save_inputs(tmp_path / "in")
    code, output, errors = recognize(tmp_path / "in" / "b.inkml", tmp_path / "in" / "a.png")
    assert (code, errors) == (0, "")
    assert output == f"{tmp_path}/in/b.inkml\t1^{{-}}\n{tmp_path}/in/a.png\t1-1\n"


def test_a_folder_is_read_in_order_of_names(recognize: Run, tmp_path: Path) -> None:
    said = save_inputs(tmp_path / "in")
    (tmp_path / "in" / "notes.txt").write_text("no input")
    (tmp_path / "in" / ".hidden.png").write_bytes(b"left behind by some system")
    code, output, _ = recognize(tmp_path / "in", "--jsonl", "-")
    lines = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert [line["source"] for line in lines] == [f"{tmp_path}/in/{name}" for name in said]
    assert [line["canonical"] for line in lines] == list(said.values())


def test_names_inside_a_zip_follow_its_own(recognize: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("ink/b.inkml", inkml("1 1"))
        archive.writestr("a.png", png(picture("-")))
        archive.writestr("__MACOSX/._a.png", b"\0")
        archive.writestr("bad.png", b"no picture")
    code, output, errors = recognize(tmp_path / "x.zip", "--jsonl", "-")
    first, bad, last = (json.loads(line) for line in output.splitlines())
    assert code == 1
    assert (first["source"], first["canonical"]) == (f"{tmp_path}/x.zip::a.png", "-")
    assert (last["source"], last["canonical"]) == (f"{tmp_path}/x.zip::ink/b.inkml", "1 1")
    assert bad["error"]["type"] == "PictureError"
    assert "x.zip::bad.png: not a picture" in bad["error"]["message"]
    assert "x.zip::bad.png" in errors


def test_few_large_files_of_a_zip_wait_at_a_time(
    recognize: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = png(picture("1"))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for number in range(5):
            archive.writestr(f"{number}.png", data)
    together: list[int] = []
    each = Recognizer.each
    monkeypatch.setattr(
        Recognizer,
        "each",
        lambda self, values, *more: together.append(len(values)) or each(self, values, *more),
    )
    monkeypatch.setattr(bulk, "MOST_WAITING", 1.5 * len(data))
    code, output, _ = recognize(tmp_path / "x.zip")
    assert (code, len(output.splitlines())) == (0, 5)
    assert together == [2, 2, 1]


def test_standard_input(recognize: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.png", png(picture("-")))
    for data, line in [
        (png(picture("1 - 1")), "-\t1-1\n"),
        (inkml("1 1"), "-\t11\n"),
        (packed.getvalue(), "-::a.png\t-\n"),
    ]:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert recognize("-") == (0, line, "")


def test_bad_files_are_passed_over_and_named_at_the_end(recognize: Run, tmp_path: Path) -> None:
    save_inputs(tmp_path / "in")
    (tmp_path / "in" / "a0-empty.png").touch()
    (tmp_path / "in" / "a1-text.jpg").write_text("text")
    (tmp_path / "in" / "a2-cut.png").write_bytes(png(picture("1"))[:99])
    (tmp_path / "in" / "a3-no-strokes.inkml").write_text("<ink></ink>")
    (tmp_path / "in" / "a4-cut.inkml").write_bytes(inkml("1")[:50])
    code, output, errors = recognize(tmp_path / "in", tmp_path / "gone", "--jsonl", "-")
    lines = [json.loads(line) for line in output.splitlines()]
    failed = [Path(line["source"]).name for line in lines if "error" in line]
    assert code == 1
    assert len(lines) == 10
    assert failed == [
        "a0-empty.png",
        "a1-text.jpg",
        "a2-cut.png",
        "a3-no-strokes.inkml",
        "a4-cut.inkml",
        "gone",
    ]
    assert "6 of 10 inputs failed" in errors
    assert all(name in errors for name in failed)
    assert "Traceback" not in errors


def test_without_jsonl_output_holds_results_only(recognize: Run, tmp_path: Path) -> None:
    (tmp_path / "x.png").write_text("text")
    code, output, errors = recognize(tmp_path / "x.png")
    assert (code, output) == (1, "")
    assert errors == (
        f"namer-edge: error: {tmp_path}/x.png: not a picture: "
        "give PNG, JPEG, BMP, TIFF, WebP, GIF or PNM\n"
    )


def test_a_blank_page_is_no_error(recognize: Run, tmp_path: Path) -> None:
    (tmp_path / "blank.png").write_bytes(png(picture("1") * 0))
    assert recognize(tmp_path / "blank.png") == (0, f"{tmp_path}/blank.png\t\n", "")


def test_json_lines_into_a_file_appear_whole(recognize: Run, tmp_path: Path) -> None:
    save_inputs(tmp_path / "in")
    target = tmp_path / "out.jsonl"
    code, output, _ = recognize(tmp_path / "in", "--jsonl", target)
    assert (code, output) == (0, "")
    assert [len(json.loads(line)) for line in target.read_text().splitlines()] == [9] * 4
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out.jsonl"}


@pytest.mark.parametrize(
    ("target", "says"), [("gone/out.jsonl", "there is no folder"), ("in", "it is a folder")]
)
def test_an_output_that_cannot_be_written_is_wrong_usage(
    target: str, says: str, recognize: Run, tmp_path: Path
) -> None:
    save_inputs(tmp_path / "in")
    code, output, errors = recognize(tmp_path / "in", "--jsonl", tmp_path / target)
    assert (code, output) == (2, "")
    assert f"cannot write {tmp_path / target}" in errors
    assert says in errors


def test_a_name_keeps_to_its_column(recognize: Run, tmp_path: Path) -> None:
    odd = tmp_path / "a\tb\nc.png"
    odd.write_bytes(png(picture("1")))
    assert recognize(odd)[1] == f"{tmp_path}/a\\tb\\nc.png\t1\n"
    assert json.loads(recognize(odd, "--jsonl", "-")[1])["source"] == str(odd)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_names_that_are_no_text(recognize: Run, tmp_path: Path) -> None:
    folder, target = tmp_path / "in", tmp_path / "out.jsonl"
    folder.mkdir()
    (folder / "a\udcff.png").write_bytes(b"no picture")
    (folder / "b\udcff.png").write_bytes(png(picture("1")))
    code, _, errors = recognize(folder, "--jsonl", target)
    bad, good = (json.loads(line) for line in target.read_text("utf-8").splitlines())
    assert (code, good["source"], good["canonical"]) == (1, f"{folder}/b\\udcff.png", "1")
    assert bad["error"]["message"].startswith(f"{folder}/a\\udcff.png: not a picture")
    assert errors.count("a\\udcff.png") == 1


def test_names_that_are_no_text_stay_two() -> None:
    assert printable("a\udcfe.png") != printable("a\udcff.png")


def test_names_come_out_whole_in_any_locale(tiny_model: ModelFile, tmp_path: Path) -> None:
    (tmp_path / "größe∑.png").write_bytes(png(picture("1")))
    words = ["recognize", str(tmp_path), "--model", str(tiny_model.path)]
    done = subprocess.run(
        [sys.executable, "-m", "namer_edge_runtime.command", *words],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode("utf-8") == f"{tmp_path}/größe∑.png\t1\n"


def test_options_may_stand_between_names_and_names_may_begin_with_a_dash(
    tiny_model: ModelFile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.png", "-b.png"):
        Path(name).write_bytes(png(picture("1")))
    model = ["--model", str(tiny_model.path)]
    assert command.main(["recognize", "a.png", *model, "a.png"]) == 0
    assert capsys.readouterr().out == "a.png\t1\n" * 2
    assert command.main(["recognize", *model, "--", "-b.png"]) == 0
    assert capsys.readouterr().out == "-b.png\t1\n"


def test_what_the_system_refuses_is_one_line_without_blame(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise OSError(28, "No space left on device", "out.jsonl")

    verb = SimpleNamespace(SUMMARY="", configure=lambda parser: None, run=run)
    monkeypatch.setattr(command, "_load", lambda point: verb)
    assert command.main(["check"]) == 1
    assert capsys.readouterr().err == "namer-edge: error: out.jsonl: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "verbs:"),
        (["juggle"], 2, "no verb 'juggle'"),
        (["--model", "x", "recognize"], 2, ""),
        (["recognize"], 2, "PATH"),
        (["recognize", "x", "--threads", "0"], 2, "'0' is no whole number from 1 on"),
        (["recognize", "x", "--threads", "100000"], 2, "100000 threads: give 1 to 1024"),
        (["recognize", "x", "--draw", "-"], 2, "give its name"),
        (["recognize", "x", "--batch-size", "many"], 2, "'many' is no whole number"),
        (["recognize", "x", "--model", "nowhere"], 2, "no model 'nowhere'"),
        (["recognize", "x", "--engine", "abacus"], 2, "no engine 'abacus'"),
        (["recognize", "x", "--device", "abacus"], 3, "no device 'abacus'"),
        (["check", "nowhere"], 2, "no model 'nowhere'"),
    ],
)
def test_errors_are_one_clear_line_and_an_exit_code(
    arguments: list[str],
    code: int,
    message: str,
    tiny_model: ModelFile,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "recognize" in arguments[:1] and "--model" not in arguments:
        arguments = [*arguments, "--model", str(tiny_model.path)]
    assert command.main(arguments) == code
    output, errors = capsys.readouterr()
    assert message in output + errors
    assert "Traceback" not in errors


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(Exception, match="nowhere"):
        command.main(["recognize", "x", "--model", "nowhere", "--debug"])


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    text = capsys.readouterr().out
    for verb in ("recognize", "train", "evaluate", "export", "data", "check"):
        assert verb in text
    assert command.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("namer-edge 0.")
    assert command.main(["recognize", "--help"]) == 0
    assert "--jsonl" in capsys.readouterr().out


def test_a_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise ModuleNotFoundError("No module named 'torch'", name="torch.nn")

    verb = SimpleNamespace(SUMMARY="", configure=lambda parser: None, run=run)
    monkeypatch.setattr(command, "_load", lambda point: verb)
    assert command.main(["check"]) == 3
    assert "pip install 'namer-edge[train]'" in capsys.readouterr().err


def test_check_says_that_all_is_in_order(
    tiny_model: ModelFile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["check", str(tiny_model.path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == []
    assert found["model"]["name"] == "tiny"
    assert found["model"]["verified"] is True
    assert found["versions"]["numpy"]
    assert found["processor"]["usable CPUs"] >= 1
    assert found["kernels"]["compiled"] is True
    assert "CPU works" in found["engines"]["onnxruntime"]
    assert "pip install onnxruntime" in found["engines"]["for CUDA"]
    reading = found["reading"]
    assert min(reading[f"{step}, ms"] for step in ("import", "load", "first reading")) > 0
    assert command.main(["check", str(tiny_model.path)]) == 0
    assert "all in order" in capsys.readouterr().out


def test_check_names_what_is_wrong(
    tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    shutil.copytree(tiny_model.path, tmp_path / "m")
    (tmp_path / "m" / "vat.onnx").write_bytes(b"altered")
    assert command.main(["check", str(tmp_path / "m")]) == 2
    assert "PROBLEM" in capsys.readouterr().out


def test_a_reader_that_has_enough_is_no_error(tiny_model: ModelFile, tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}.inkml").write_bytes(inkml("1"))
    done = subprocess.run(
        f"{sys.executable} -m namer_edge_runtime.command recognize {tmp_path} --batch-size 1"
        f" --model {tiny_model.path} | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)


def test_a_stopped_run_goes_on_where_it_was(
    recognize: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = save_inputs(tmp_path / "in")
    (tmp_path / "in" / "b0.png").write_bytes(b"no picture")
    target, journal = tmp_path / "out.jsonl", tmp_path / "out.jsonl.journal"
    real, read = bulk.recognize_all, []

    def stopping(recognizer: object, inputs: object, *how: int) -> object:
        for number, outcome in enumerate(real(recognizer, inputs, 1)):  # type: ignore[arg-type]
            if number == 3:
                raise KeyboardInterrupt
            yield outcome

    monkeypatch.setattr(bulk, "recognize_all", stopping)
    assert recognize(tmp_path / "in", "--jsonl", target)[0] == 130
    assert not target.exists()
    with journal.open("ab") as file:
        file.write(b'{"source": "cut sho')  # as a kill leaves it

    def noting(recognizer: object, inputs: list[Source], *how: int) -> object:
        for source in inputs:
            read.append(Path(source.name).name)
            yield from real(recognizer, [source], *how)  # type: ignore[arg-type]

    monkeypatch.setattr(bulk, "recognize_all", noting)
    code, _, errors = recognize(tmp_path / "in", "--jsonl", target, "--resume")
    assert code == 1
    assert "1 of 5 inputs failed" in errors
    assert "b0.png: not a picture" in errors
    assert read == ["b0.png", "c.jpg", "d.bmp"]  # what failed is tried again
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    names = [str(tmp_path / "in" / name) for name in sorted([*said, "b0.png"])]
    assert [line["source"] for line in lines] == names
    assert [line["canonical"] for line in lines if "error" not in line] == list(said.values())
    assert not journal.exists()


def test_only_what_the_same_model_made_is_gone_on_with(recognize: Run, tmp_path: Path) -> None:
    save_inputs(tmp_path / "in")
    target, journal = tmp_path / "out.jsonl", tmp_path / "out.jsonl.journal"
    journal.write_text('{"journal": 1, "model": ["another"], "one_look": false}\n')
    code, _, errors = recognize(tmp_path / "in", "--jsonl", target, "--resume")
    assert code == 2
    assert "another model" in errors
    assert recognize(tmp_path / "in", "--jsonl", target)[0] == 0
    assert recognize(tmp_path / "in", "--resume")[0] == 2
    # Nothing is there to go on with: all is read.
    (tmp_path / "out.jsonl").unlink()
    assert recognize(tmp_path / "in", "--jsonl", target, "--resume")[0] == 0
    assert len(target.read_text().splitlines()) == 4


def test_a_file_given_twice_is_two_lines(recognize: Run, tmp_path: Path) -> None:
    save_inputs(tmp_path / "in")
    one = tmp_path / "in" / "a.png"
    assert recognize(one, one, "--jsonl", tmp_path / "o")[0] == 0
    assert len((tmp_path / "o").read_text().splitlines()) == 2


def test_one_look_and_fallback_are_options(recognize: Run, tmp_path: Path) -> None:
    save_inputs(tmp_path / "in")
    code, output, _ = recognize(tmp_path / "in" / "a.png", "--one-look", "--fallback")
    assert (code, output.split("\t")[1]) == (0, "1-1\n")


def test_a_run_as_pictures_is_not_gone_on_with_otherwise(
    recognize: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_inputs(tmp_path / "in")
    command_ = (tmp_path / "in", "--jsonl", tmp_path / "out.jsonl")

    def stopping(*_: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bulk, "recognize_all", stopping)
        assert recognize(*command_, "--as-picture")[0] == 130
    assert recognize(*command_, "--resume")[0] == 2
    assert recognize(*command_, "--resume", "--as-picture")[0] == 0
