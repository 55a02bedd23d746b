"""A folder in which the commands of the documentation find the files that they name."""

import shutil
import zipfile
from pathlib import Path

import cv2

from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.ink.inkml import read_inkml

from .blocks import ROOT

EXAMPLES = ROOT / "examples"
INK_SETS = ("train", "test2013", "test2014", "test2016", "mine", "mine-test")
"""Data sets of ink that pages speak of; each is the examples here."""


def zipped(path: Path, files: list[Path]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            archive.write(file, file.name)


def build(folder: Path) -> None:
    """Puts the examples into `folder` under all the names that the pages use."""
    ink, pictures = sorted(EXAMPLES.glob("*.inkml")), sorted(EXAMPLES.glob("*.png"))
    shutil.copytree(EXAMPLES, folder / "examples")
    (folder / "export").symlink_to(ROOT / "export")
    for name in ("formula.png", "a.png"):
        shutil.copy(EXAMPLES / "root.png", folder / name)
    shutil.copy(EXAMPLES / "square.png", folder / "b.png")
    shutil.copy(EXAMPLES / "half.inkml", folder / "page.inkml")
    cv2.imwrite(str(folder / "photo.jpg"), cv2.imread(str(EXAMPLES / "half.png")))
    (folder / "scans").mkdir()
    for picture in pictures[:2]:
        shutil.copy(picture, folder / "scans")
    zipped(folder / "ink.zip", ink[:2])
    labels = "".join(
        f"{path.stem}\t{' '.join(normalize(read_inkml(path).truth or ''))}\n" for path in ink
    )
    for name in INK_SETS:
        zipped(folder / f"{name}.zip", ink)
        (folder / f"labels-{name}.tsv").write_text(labels, "utf-8")
    for name in ("mine", "mine-test", "photos"):
        (folder / f"{name}.tsv").write_text(labels, "utf-8")
    zipped(folder / "photos.zip", pictures)
    (folder / "runs" / "data").mkdir(parents=True)
