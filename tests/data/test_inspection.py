"""`namer-edge data check | stats | show`: what became of every file, and what a pack is made of."""

import argparse
import json
from pathlib import Path

import cv2
import pytest

from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Remark, Report
from namer_edge.data.statistics import Statistics
from namer_edge.verbs import data as verb
from namer_edge_runtime.errors import DataError, UsageError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written
from ..inkml_files import inkml, line
from ..photos import write_photos


def run(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    verb.configure(parser)
    return verb.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    formulas = [written(number) for number in range(len(WRITTEN))]
    disagreeing, inkless = (Remark("15-0", "two\nlines"),), (Remark("z", "no file"),)
    report = Report(15, disagreeing=disagreeing, inkless=inkless)
    save_pack(tmp_path / "set.npz", Pack(formulas, report, {"ink.zip": "abc"}))
    return tmp_path / "set.npz"


def test_check_tells_every_files_fate(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", pack, "--fates", tmp_path / "fates.tsv") == 0
    said = capsys.readouterr().out
    assert "made from ink.zip, SHA-256 abc" in said
    assert "16 have a place for every token" in said
    fates = dict(
        line_.split("\t", 1) for line_ in (tmp_path / "fates.tsv").read_text().splitlines()
    )
    assert len(fates) == 17
    assert fates["3-0"] == "agreeing\t"
    assert fates["15-0"] == "disagreeing\ttwo lines"
    assert fates["z"] == "inkless\tno file"


def test_check_compares_labels(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.tsv"
    rows = {f"{number}-0.inkml": label for number, (label, _) in enumerate(WRITTEN)}
    labels.write_text("".join(f"{name}\t{label}\n" for name, label in rows.items()), "utf-8")
    assert run("check", pack, "--labels", labels) == 0
    rows["3-0.inkml"] = "\\sqrt { y }"
    labels.write_text("".join(f"{name}\t{label}\n" for name, label in rows.items()), "utf-8")
    assert run("check", pack, "--labels", labels) == 1
    assert "3-0: \\sqrt { x } | \\sqrt { y }" in capsys.readouterr().out


def test_check_of_a_folder_packs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ink"
    folder.mkdir()
    good = inkml([line(0, 0, 5, 9)], [("1", [0], "o")], '<mn xml:id="o">1</mn>')
    (folder / "a.inkml").write_text(good, "utf-8")
    (folder / "b.inkml").write_text("", "utf-8")
    assert run("check", folder) == 1
    assert "  b: the file is empty" in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == ["a.inkml", "b.inkml"]


def test_pictures_are_packed_and_need_labels(tmp_path: Path) -> None:
    folder = write_photos(tmp_path / "photos", [0, 2])
    out = tmp_path / "photos.npz"
    with pytest.raises(UsageError, match="give --labels"):
        run("pack", folder, "--form", "hme100k", "-o", out)
    labels = tmp_path / "labels.tsv"
    labels.write_text("0.jpg\tx ^ { 2 } + 1\n2.jpg\ta + b = 3\n", "utf-8")
    assert run("pack", folder, "--form", "hme100k", "--labels", labels, "-o", out) == 0
    assert run("check", out, "--labels", labels) == 0
    assert run("show", out, "-o", tmp_path / "sheet.png") == 0


def test_stats_count_formulas_classes_and_sizes(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("stats", pack, "symbol_height=26") == 0
    said = capsys.readouterr().out
    assert "16 formulas, 0 of them pictures" in said
    assert "visual tokens of a label: 1 to 7" in said
    assert run("stats", pack, "--json") == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["classes"]["\\frac"] == 3
    assert sum(numbers["classes"].values()) == sum(numbers["series"]["visual tokens of a label"])


def test_stats_are_drawn(pack: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from namer_edge.data.plots import plots

    assert run("stats", pack, "symbol_height=26", "--plots", tmp_path / "plots.png") == 0
    assert cv2.imread(str(tmp_path / "plots.png")) is not None
    formulas = [written(number) for number in range(len(WRITTEN))]
    statistics = Statistics.of(formulas, VOCABULARY, Preprocessing())
    *histograms, bars = plots(statistics).axes
    for axes, values in zip(histograms, statistics.series().values(), strict=True):
        assert 0 < sum(bar.get_height() for bar in axes.patches) <= len(values)
    assert [bar.get_height() for bar in bars.patches] == list(statistics.classes.values())[:30]
    assert bars.get_xticklabels()[0].get_text() == next(iter(statistics.classes))


def test_stats_follow_the_look_and_name_what_is_missing() -> None:
    formulas = [written(number) for number in range(len(WRITTEN))]
    small, large = (Statistics.of(formulas, VOCABULARY, Preprocessing(h)) for h in (13.0, 26.0))
    assert [w * 2 for w in small.widths] == pytest.approx(large.widths, abs=2)
    assert small.shared > large.shared
    assert "\\int" in small.unseen
    assert "x" not in small.unseen
    with pytest.raises(DataError, match="no formula"):
        Statistics.of([], VOCABULARY, Preprocessing())


def test_show_draws_the_targets_where_the_tokens_are(pack: Path, tmp_path: Path) -> None:
    """Plainly drawn; red cells, as many as there are tokens; the same again for the same seed."""
    plain = [f"{key}=0" for key in ("cut", "swap", "rotation")]
    for name in ("one.png", "two.png"):
        assert run("show", pack, *plain, "--name", "2-0", "-o", tmp_path / name) == 0
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    sheet = cv2.imread(str(tmp_path / "one.png"))
    assert sheet is not None
    red = (sheet[..., 2] > 200) & (sheet[..., 0] < 80)
    assert red.sum() > 5 * 4 * 20
    with pytest.raises(DataError, match="not in it: nobody"):
        run("show", pack, "--name", "nobody", "-o", tmp_path / "none.png")


def test_own_labels_extend_a_vocabulary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels, out = tmp_path / "mine.tsv", tmp_path / "mine.json"
    labels.write_text("a\t\\smiley = \\vec { x } + 1\n", "utf-8")
    assert run("vocabulary", labels, "--base", "crohme", "-o", out) == 0
    mine = Vocabulary.load(str(out))
    assert mine.symbols[: len(VOCABULARY.symbols)] == VOCABULARY.symbols
    assert set(mine.tokens) - set(VOCABULARY.tokens) == {"\\smiley", "\\vec"}
    assert mine.relations["\\vec"] == ("{",)
    assert mine.limits == VOCABULARY.limits
