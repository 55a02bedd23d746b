"""Files of CROHME's official splits in the shared data."""

from pathlib import Path
from typing import NamedTuple

CROHME = ("train", "test2013", "test2014", "test2016", "extra")


class Split(NamedTuple):
    """Ink (zip or folder) and labels of one split."""

    ink: Path
    labels: Path


def find_split(data: Path, name: str) -> Split:
    """`NAME.zip` or the folder `NAME`, and `labels-NAME.tsv`, in the folder `crohme` of `data`."""
    folder = data / "crohme"
    packed = folder / f"{name}.zip"
    return Split(packed if packed.exists() else folder / name, folder / f"labels-{name}.tsv")
