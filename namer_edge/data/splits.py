"""The official splits of CROHME, what each is for, and where its files are."""

from dataclasses import dataclass
from pathlib import Path

from namer_edge_runtime.errors import DataError

CROHME = {
    "train": "train on it",
    "test2013": "choose checkpoints on it",
    "test2014": "report on it",
    "test2016": "report on it",
    "extra": "older ink, in no other split; published results do not train on it",
}
"""Split → what it is for. Choosing on test2014, the field's habit, is to be named as such."""
TRAINING, CHOICE, REPORTED = "train", "test2013", ("test2014", "test2016")


@dataclass(frozen=True)
class Split:
    """Files of one split: ink (zip or folder) and labels."""

    name: str
    ink: Path
    labels: Path


def find_split(data: str | Path, name: str) -> Split:
    """Files of a CROHME split below the folder `data`, or its sub-folder `crohme`: `NAME.zip` or
    the folder `NAME`, and `labels-NAME.tsv`.

    Raises `DataError` where the split is unknown or the folder or a file of it is not there.
    """
    if name not in CROHME:
        raise DataError(f"{name}: no split of CROHME; there are {', '.join(CROHME)}")
    folder = Path(data)
    if not folder.is_dir():
        raise DataError(f"{folder}: no such data folder")
    if (folder / "crohme").is_dir():
        folder /= "crohme"
    inks = [path for path in (folder / f"{name}.zip", folder / name) if path.exists()]
    labels = folder / f"labels-{name}.tsv"
    if not inks:
        raise DataError(f"{folder}: neither {name}.zip nor a folder {name} in it")
    if not labels.is_file():
        raise DataError(f"{labels}: not there; the split {name} needs its label file")
    return Split(name, inks[0], labels)
