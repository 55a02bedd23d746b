"""A data set is packed once and opened quickly ever after."""

import argparse
import json
import mmap
from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.crohme import load_crohme
from namer_edge.data.labels import read_labels
from namer_edge.data.pack import Pack, load_pack, save_pack, source_hash
from namer_edge.verbs import data as verb
from namer_edge_runtime.errors import DataError

from ..inkml_files import inkml, line

FILES = {
    "a": inkml([line(0, 0, 5, 9), "3 4"], [("1", [0], "o")], '<mn xml:id="o">1</mn>'),
    "b": inkml([line(0, 0, 5, 9)], [("x", [0], "x")], '<mi xml:id="x">x</mi>'),
    "c": "",
}


@pytest.fixture
def ink(tmp_path: Path) -> Path:
    folder = tmp_path / "ink"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.inkml").write_text(text, "utf-8")
    (tmp_path / "labels.tsv").write_text("a\t1\nb\ty\n", "utf-8")
    return folder


@pytest.fixture
def pack(ink: Path) -> Pack:
    loaded = load_crohme(ink, ink.parent / "labels.tsv")
    return Pack(loaded.formulas, loaded.report, {"ink": source_hash(ink)})


def test_what_goes_in_comes_out(pack: Pack, tmp_path: Path) -> None:
    save_pack(tmp_path / "new" / "set.npz", pack)
    again = load_pack(tmp_path / "new" / "set.npz")
    assert again.report == pack.report
    assert again.sources == pack.sources
    assert len(again.formulas) == len(pack.formulas) == 2
    for old, new in zip(pack.formulas, again.formulas, strict=True):
        assert (new.name, new.tokens) == (old.name, old.tokens)
        assert [s.tolist() for s in new.strokes] == [s.tolist() for s in old.strokes]
        for field in ("symbols", "positions", "boxes"):
            was, now = getattr(old, field), getattr(new, field)
            assert now.dtype == was.dtype
            np.testing.assert_array_equal(now, was)
    assert [formula.placed for formula in again.formulas] == [True, False]


def test_an_empty_set_can_be_packed(pack: Pack, tmp_path: Path) -> None:
    save_pack(tmp_path / "none.npz", Pack([], pack.report, {}))
    assert load_pack(tmp_path / "none.npz").formulas == []


def test_no_pickle_is_ever_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", meta=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match="no pack"):
        load_pack(tmp_path / "evil.npz")


def test_what_is_no_pack_says_what_to_do(pack: Pack, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="data pack"):
        load_pack(tmp_path / "none.npz")
    for content in (b"", b"nothing"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(DataError, match="no pack"):
            load_pack(tmp_path / "bad.npz")
    np.savez(tmp_path / "other.npz", other=np.zeros(3))
    with pytest.raises(DataError, match="no pack"):
        load_pack(tmp_path / "other.npz")
    save_pack(tmp_path / "set.npz", pack)
    whole = (tmp_path / "set.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="damaged"):
        load_pack(tmp_path / "cut.npz")


def test_a_bit_that_fell_over_is_noticed(pack: Pack, tmp_path: Path) -> None:
    """Wherever it is: a pack is refused, or nothing of its content has changed."""
    save_pack(tmp_path / "set.npz", pack)
    whole = (tmp_path / "set.npz").read_bytes()
    refused, other = 0, tmp_path / "other.npz"
    for place in np.random.default_rng(0).integers(0, len(whole), 200):
        changed = bytearray(whole)
        changed[place] ^= 0x10
        other.write_bytes(changed)
        try:
            again = load_pack(other)
        except DataError:
            refused += 1
            continue
        assert again.report == pack.report
        for old, new in zip(pack.formulas, again.formulas, strict=True):
            assert [s.tolist() for s in new.strokes] == [s.tolist() for s in old.strokes]
            assert new.positions.tolist() == old.positions.tolist()
    assert refused > 20


def test_what_is_packed_stays_in_the_file_until_it_is_looked_at(pack: Pack, tmp_path: Path) -> None:
    save_pack(tmp_path / "set.npz", pack)
    points = load_pack(tmp_path / "set.npz").formulas[0].strokes[0]
    assert not points.flags.writeable
    while isinstance(points, np.ndarray):
        points = points.base
    assert isinstance(points.obj, mmap.mmap)  # type: ignore[attr-defined]


def test_packs_of_before_are_read(pack: Pack, tmp_path: Path) -> None:
    """Those were written by `np.savez`, their numbers anywhere in the file."""
    save_pack(tmp_path / "set.npz", pack)
    with np.load(tmp_path / "set.npz") as file:
        np.savez(tmp_path / "old.npz", **file)
        np.savez_compressed(tmp_path / "small.npz", **file)
    again = load_pack(tmp_path / "old.npz")
    assert again.report == pack.report
    assert [f.tokens for f in again.formulas] == [f.tokens for f in pack.formulas]
    with pytest.raises(DataError, match="compressed"):
        load_pack(tmp_path / "small.npz")


def test_a_pack_of_another_version_or_with_parts_missing_is_refused(
    pack: Pack, tmp_path: Path
) -> None:
    save_pack(tmp_path / "set.npz", pack)
    with np.load(tmp_path / "set.npz") as file:
        arrays = dict(file)
    meta = json.loads(arrays["meta"].tobytes())
    for name, wrong in (
        ("points", arrays["points"][:-1]),
        ("points", np.repeat(arrays["points"], 2, axis=1)),
        ("points", arrays["points"] * np.float32("nan")),
        *((name, value.astype(np.float16)) for name, value in arrays.items() if name != "meta"),
        *((name, value.astype("S2")) for name, value in arrays.items() if name != "meta"),
        ("strokes", arrays["strokes"].astype(np.complex128)),
        ("meta", packed_json({**meta, "names": [3] * len(meta["names"])})),
        ("meta", packed_json({**meta, "labels": [3] * len(meta["labels"])})),
        ("meta", packed_json({**meta, "report": None})),
    ):
        np.savez(tmp_path / "wrong.npz", **{**arrays, name: wrong})
        with pytest.raises(DataError, match="do not fit"):
            load_pack(tmp_path / "wrong.npz")
    arrays["meta"] = packed_json({**meta, "format_version": 99})
    np.savez(tmp_path / "new.npz", **arrays)
    with pytest.raises(DataError, match="99"):
        load_pack(tmp_path / "new.npz")


def packed_json(value: object) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def test_a_pack_that_fails_leaves_the_old_one(pack: Pack, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", "utf-8")
    with pytest.raises(DataError, match="cannot be written"):
        save_pack(tmp_path / "file" / "set.npz", pack)
    save_pack(tmp_path / "set.npz", pack)
    assert sorted(p.name for p in tmp_path.iterdir() if "set" in p.name) == ["set.npz"]


def test_the_hash_of_a_folder_follows_its_files(ink: Path) -> None:
    before = source_hash(ink)
    assert before == source_hash(ink)
    (ink / "c.inkml").write_text("other", "utf-8")
    assert source_hash(ink) != before


def run(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    verb.configure(parser)
    return verb.run(parser.parse_args([str(word) for word in words]))


def test_the_command_packs_and_names_what_is_amiss(
    ink: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels, out = tmp_path / "labels.tsv", tmp_path / "set.npz"
    assert run("pack", ink, "--labels", labels, "-o", out) == 1
    said = capsys.readouterr().out
    for line_ in (
        "3 files, 2 formulas",
        "1 agree with their label",
        "1 disagreeing (packed, without places for their symbols)",
        "  b: no symbol in the ink for y",
        "1 unreadable (left out)",
        "  c: the file is empty",
    ):
        assert line_ in said.splitlines()
    assert set(load_pack(out).sources) == {"ink", "labels.tsv"}
    (ink / "c.inkml").unlink()
    assert run("pack", ink, "--labels", labels, "-o", out) == 0


def test_a_file_that_was_published_empty_is_no_failure(
    ink: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels, out = tmp_path / "labels.tsv", tmp_path / "set.npz"
    (ink / "c.inkml").rename(ink / "MfrDB3088.inkml")
    assert run("pack", ink, "--labels", labels, "-o", out) == 0
    assert "  MfrDB3088: the file is empty, as it was published" in capsys.readouterr().out
    assert run("check", out) == run("check", ink, "--labels", labels) == 0
    (ink / "MfrDB3088.inkml").write_text("<ink>", "utf-8")
    assert run("pack", ink, "--labels", labels, "-o", out) == 1


def test_many_files_of_a_kind_are_counted_and_some_named(
    ink: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels, fates = tmp_path / "labels.tsv", tmp_path / "fates.tsv"
    lines = [labels.read_text("utf-8"), *(f"gone{number}\tx\n" for number in range(3000))]
    labels.write_text("".join(lines), "utf-8")
    run("pack", ink, "--labels", labels, "-o", tmp_path / "set.npz")
    said = capsys.readouterr().out.splitlines()
    assert "3000 inkless (labels without a file: left out)" in said
    assert "  … and 2980 more: `data check --fates` names them all" in said
    assert len(said) < 40
    run("check", tmp_path / "set.npz", "--fates", fates)
    assert fates.read_text("utf-8").count("inkless") == 3000
    assert len(capsys.readouterr().out.splitlines()) < 40


def test_the_command_without_labels_takes_the_mathml(ink: Path, tmp_path: Path) -> None:
    run("pack", ink, "-o", tmp_path / "set.npz")
    formulas = load_pack(tmp_path / "set.npz").formulas
    assert [formula.tokens for formula in formulas] == [("1",), ("x",)]


def test_a_heading_of_another_tool_is_told_and_no_formula(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text("Image\tLaTeX\na\tx\n", "utf-8")
    assert [label.name for label in read_labels(path)] == ["a"]
    assert "taken for a heading: Image TAB LaTeX" in capsys.readouterr().err
    path.write_text("image\tx\na\tx\n", "utf-8")
    assert [label.name for label in read_labels(path)] == ["image", "a"]
    assert capsys.readouterr().err == ""
