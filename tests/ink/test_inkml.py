"""Somebody hands over InkML in the states it is found in."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from namer_edge_runtime.errors import InkError
from namer_edge_runtime.ink.inkml import Ink, iterate_ink, read_inkml

from ..inkml_files import INKML, inkml, line

PLUS = inkml(
    [line(0, 5, 10, 5), line(5, 0, 5, 10)],
    [("+", [0, 1], "plus_1")],
    '<mrow><mo xml:id="plus_1">+</mo></mrow>',
    truth="$+$",
)


def test_strokes_symbols_tree_and_truth_come_out() -> None:
    ink = read_inkml(PLUS.encode(), "plus")
    assert ink.name == "plus"
    assert [stroke.tolist() for stroke in ink.strokes] == [
        [[0, 5], [5, 5], [10, 5]],
        [[5, 0], [5, 5], [5, 10]],
    ]
    assert ink.strokes[0].dtype == np.float32
    (symbol,) = ink.symbols
    assert (symbol.label, symbol.strokes, symbol.href) == ("+", (0, 1), "plus_1")
    assert ink.math is not None
    leaf = ink.math.children[0].children[0]
    assert (leaf.tag, leaf.text, leaf.identifier) == ("mo", "+", "plus_1")
    assert ink.truth == "$+$"


def test_path_open_file_and_bytes_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "plus.inkml"
    file.write_text(PLUS, "utf-8")
    with file.open("rb") as opened:
        inks = [read_inkml(file), read_inkml(str(file)), read_inkml(opened)]
    inks.append(read_inkml(PLUS.encode(), "plus"))
    assert {pickle.dumps(ink.symbols) for ink in inks} == {pickle.dumps(inks[0].symbols)}
    assert {ink.name for ink in inks} == {"plus"}


@pytest.mark.parametrize(
    "data",
    [
        PLUS.encode("utf-8-sig"),
        PLUS.encode("utf-16"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>' + PLUS).encode("latin-1"),
        ('\n <?xml version="1.0" encoding="UTF-8"?>\n' + PLUS).encode(),
        ('<?xml version="1.0" encoding="no-such-one"?>' + PLUS).encode(),
        PLUS.replace("$+$", "c · b").encode("latin-1"),
        PLUS.replace("$+$", "&alpha; &cdot; \x07").encode(),
        PLUS.replace(f' xmlns="{INKML}"', "").encode(),
        PLUS.replace("<trace ", "<ink:trace ").replace("</trace>", "</ink:trace>").encode(),
        PLUS.replace("<annotation ", "<!-- a comment --><annotation ").encode(),
        PLUS.replace('traceDataRef="', 'traceDataRef="#').encode(),
        PLUS.replace('<trace id="', '<trace xml:id="').encode(),
    ],
    ids=[
        "byte order mark",
        "UTF-16",
        "declared Latin-1",
        "blank before the declaration",
        "unknown encoding",
        "Latin-1 without a declaration",
        "entities and control characters",
        "no namespace",
        "undeclared prefix",
        "comments",
        "references with a hash",
        "xml:id",
    ],
)
def test_what_is_odd_but_readable_is_read(data: bytes) -> None:
    ink = read_inkml(data, "odd")
    assert [len(stroke) for stroke in ink.strokes] == [3, 3]
    assert ink.symbols[0].strokes == (0, 1)
    assert ink.math is not None


def test_a_latin_1_dot_keeps_its_meaning() -> None:
    data = PLUS.replace("<mo xml:id", "<mo>·</mo><mo xml:id").encode("latin-1")
    math = read_inkml(data, "dot").math
    assert math is not None
    assert math.children[0].children[0].text == "·"


def test_entities_become_characters_but_xml_stays_xml() -> None:
    ink = read_inkml(PLUS.replace("$+$", "&pi; &lt; 4 &amp; &LT;").encode(), "entities")
    assert ink.truth == "π < 4 & <"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (PLUS.encode()[: len(PLUS) // 2], "cut short"),
        (b"\x89PNG\r\n\x1a\n", "not readable as XML"),
        (inkml([]).encode(), "no strokes"),
        (inkml(["", "  "]).encode(), "no strokes"),
    ],
    ids=["empty", "blank", "truncated", "no XML", "no traces", "traces without points"],
)
def test_what_cannot_be_used_names_file_and_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InkError, match=f"^MfrDB3088: .*{reason}"):
        read_inkml(data, "MfrDB3088")


def test_a_file_that_is_not_there_is_an_ink_error(tmp_path: Path) -> None:
    with pytest.raises(InkError, match="cannot be opened"):
        read_inkml(tmp_path / "none.inkml")
    with pytest.raises(InkError, match="not there"):
        list(iterate_ink(tmp_path / "none.inkml"))


def test_references_to_strokes_that_do_not_exist_survive() -> None:
    text = inkml([line(0, 0, 1, 1)], [("1", [0, 7], "one"), ("2", [9], "two")])
    ink = read_inkml(text.encode(), "dangling")
    assert [symbol.strokes for symbol in ink.symbols] == [(0,), ()]


def test_empty_traces_do_not_shift_the_numbers_of_others() -> None:
    ink = read_inkml(inkml(["", "3 4"], [("x", [0, 1], None)]).encode(), "gap")
    assert [stroke.tolist() for stroke in ink.strokes] == [[[3, 4]]]
    assert ink.symbols[0].strokes == (0,)


def test_where_the_pen_hovered_is_no_ink() -> None:
    ink = "<ink>{}<trace>30 0, 30 40</trace></ink>"
    hovered = ink.format("<trace type='penUp'>0 40, 30 0</trace>")
    assert len(read_inkml(hovered.encode(), "hovering").strokes) == 1
    assert len(read_inkml(hovered.replace("Up", "Down").encode(), "writing").strokes) == 2


def test_a_tree_of_bottomless_depth_costs_the_tree_not_the_strokes() -> None:
    deep = inkml(["1 2"], math="<mrow>" * 5000 + "</mrow>" * 5000)
    ink = read_inkml(deep.encode(), "deep")
    assert ink.math is None
    assert len(ink.strokes) == 1


def test_a_folder_gives_every_file_in_order_and_bad_ones_as_errors(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "b.inkml").write_text(PLUS, "utf-8")
    (tmp_path / "inner" / "a.INKML").write_text(PLUS, "utf-8")
    (tmp_path / "c.inkml").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not ink", "utf-8")
    found = dict(iterate_ink(tmp_path))
    assert sorted(found) == ["a", "b", "c"]
    assert isinstance(found["a"], Ink)
    assert isinstance(found["c"], InkError)


def test_a_zip_gives_the_same_as_its_folder(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("set/b.inkml", PLUS)
        archive.writestr("set/a.inkml", "<ink>")
        archive.writestr("__MACOSX/set/._b.inkml", "shadow")
    (tmp_path / "set.zip").write_bytes(buffer.getvalue())
    for source in (buffer.getvalue(), tmp_path / "set.zip"):
        names = [(name, isinstance(ink, Ink)) for name, ink in iterate_ink(source)]
        assert names == [("a", False), ("b", True)]


def test_a_damaged_member_of_a_zip_is_named_and_the_rest_is_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.inkml", PLUS)
        archive.writestr("b.inkml", PLUS)
    data = bytearray(buffer.getvalue())
    data[100] ^= 0xFF
    found = dict(iterate_ink(bytes(data)))
    assert isinstance(found["a"], InkError)
    assert "a: cannot be unpacked" in str(found["a"])
    assert isinstance(found["b"], Ink)


@pytest.mark.parametrize("content", [b"", b"PK no zip at all"])
def test_a_broken_zip_is_an_ink_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.zip").write_bytes(content)
    with pytest.raises(InkError, match="not a zip"):
        list(iterate_ink(tmp_path / "broken.zip"))


def test_a_folder_or_zip_without_ink_says_so(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    (tmp_path / "folder").mkdir()
    for source in (tmp_path / "empty.zip", tmp_path / "folder"):
        with pytest.raises(InkError, match=r"no \.inkml file"):
            list(iterate_ink(source))


def test_crohme_reads_whole_but_for_the_empty_file(shared_data: Path) -> None:
    inks = [ink for _, ink in iterate_ink(shared_data / "crohme" / "train.zip")]
    assert len(inks) == 8836
    assert [str(e) for e in inks if isinstance(e, InkError)] == ["MfrDB3088: the file is empty"]


def test_entities_hidden_by_a_control_character_are_refused() -> None:
    doctype = b'<!DOCTYPE ink [<!EN\x01TITY a_b "1 2, 3 4">]>'
    with pytest.raises(InkError, match="declares entities"):
        read_inkml(doctype + b"<ink><trace>&a_b;</trace></ink>")
