"""Ink in Office documents is read from their ink parts, as Office writes them."""

import zipfile
from pathlib import Path

import pytest

from namer_edge_runtime.bulk.input_files import count, sources
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.inputs import open_input

CHANNELS = "".join(
    f'<inkml:channel name="{name}" type="integer" max="32767" units="{unit}"/>'
    for name, unit in (("X", "cm"), ("Y", "cm"), ("F", "dev"))
)
RESOLUTION = "".join(
    f'<inkml:channelProperty channel="{name}" name="resolution" value="{value}" units="{unit}"/>'
    for name, value, unit in (("X", 1000, "1/cm"), ("Y", 1000, "1/cm"), ("F", 0, "1/dev"))
)
PART = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<inkml:ink xmlns:inkml="http://www.w3.org/2003/InkML"><inkml:definitions>'
    '<inkml:context xml:id="ctx0"><inkml:inkSource xml:id="inkSrc0"><inkml:traceFormat>'
    f"{CHANNELS}</inkml:traceFormat><inkml:channelProperties>{RESOLUTION}"
    "</inkml:channelProperties></inkml:inkSource></inkml:context>"
    '<inkml:brush xml:id="br0"><inkml:brushProperty name="width" value="0.05" units="cm"/>'
    '<inkml:brushProperty name="color" value="#E71224"/></inkml:brush>'
    '<inkml:brush xml:id="br1"><inkml:brushProperty name="transparency" value="127"/>'
    '<inkml:brushProperty name="rasterOp" value="maskPen"/></inkml:brush></inkml:definitions>'
    '<inkml:trace contextRef="#ctx0" brushRef="#br0">54 97 24575,\'0\'4\'0,0 9 0,10-5 -8191'
    "</inkml:trace>"
    '<inkml:trace contextRef="#ctx0" brushRef="#br1">0 0 24575,\'900\'0\'0</inkml:trace>'
    "</inkml:ink>"
)


def document(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("[Content_Types].xml", "word/document.xml"):
            archive.writestr(name, "<Types/>")
        for name in names:
            archive.writestr(name, PART)
    return path


@pytest.mark.parametrize("folder", ["word", "ppt", "xl"])
def test_ink_parts_are_read_and_named(tmp_path: Path, folder: str) -> None:
    names = [f"{folder}/ink/ink{number}.xml" for number in (1, 2)]
    path = document(tmp_path / "a.docx", *names, f"{folder}/ink/_rels/ink1.xml.rels")
    found = list(sources([path]))
    assert [source.name for source in found] == [f"{path}::{name}" for name in names]
    assert count([path]) == len(names)
    for source in found:
        (stroke,) = open_input(source.value).strokes or ()
        assert stroke.tolist() == [[54, 97], [54, 101], [54, 110], [64, 105]]


def test_other_parts_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="without a picture or InkML"):
        list(sources([document(tmp_path / "a.docx")]))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("word/ink/ink1.xml", PART)
    with pytest.raises(DataError, match="no picture and no InkML"):
        list(sources([tmp_path / "a.zip"]))
