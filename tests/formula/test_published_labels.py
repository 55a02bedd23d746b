"""The raw truth of the ink, normalized, is the label that published rates are counted with."""

from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula.tokens import normalize

from .formulas import read_labels

BROKEN_TRUTHS = {
    "test2014": {
        "root index written ABOVE the root": ["RIT_2014_178", "RIT_2014_189", "RIT_2014_195"],
        "fraction written ABOVE and BELOW": ["RIT_2014_309"],
        "an equals sign as subscript": ["RIT_2014_190"],
        "a brace too many": ["RIT_2014_191", "RIT_2014_216"],
    },
    "test2016": {},
    "test2013": {},
    "extra": {},
    "train": {
        "MathBrush's zeros before and behind, which no published label has": [
            "2009210-947-185",
            "200922-1017-3",
            "200922-1017-52",
            "200922-947-134",
            "2009220-1327-107",
            "200923-1251-271",
            "200923-131-245",
            "200923-1553-171",
            "200923-1553-191",
            "200923-1553-270",
            "200923-1553-286",
            "200923-1553-45",
            "200923-1556-149",
            "200923-1556-199",
            "200924-1312-151",
            "200924-1331-22",
            "200925-1126-210",
            "200926-1617-129",
            "200926-1617-216",
        ],
        "lim in letters": ["MfrDB2909"],
        "label and truth say different things": [
            "formulaire003-equation039",
            "formulaire012-equation030",
            "formulaire021-equation072",
        ],
    },
}
POSSIBLE = {"test2014": 979, "test2016": 1147, "test2013": 667, "extra": 839, "train": 8812}


@pytest.mark.parametrize("name", POSSIBLE)
def test_raw_truth_gives_the_published_label(name: str, shared_data: Path) -> None:
    labels = read_labels(shared_data / "crohme" / f"labels-{name}.tsv")
    truths = raw_truths(shared_data / "crohme" / f"{name}.zip")
    wrong = {key for key, label in labels.items() if canonical(truths[key]) != label}
    assert wrong == {key for keys in BROKEN_TRUTHS[name].values() for key in keys}
    assert len(labels) - len(wrong) == POSSIBLE[name]


REPAIRED_LABELS = {
    "train": {},
    "test2014": {
        "the older caption closes the subscript at the end": ["RIT_2014_191", "RIT_2014_216"],
        "the older caption has a comma as subscript": [
            "RIT_2014_217",
            "RIT_2014_225",
            "RIT_2014_51",
        ],
        "the older caption has \\pi for \\Pi": ["RIT_2014_133"],
    },
}


@pytest.mark.parametrize("name", REPAIRED_LABELS)
def test_older_captions_become_the_published_labels(name: str, shared_data: Path) -> None:
    labels = read_labels(shared_data / "crohme" / f"labels-{name}.tsv")
    captions = read_labels(shared_data / "crohme" / f"labels-{name}-wap.tsv")
    wrong = {key for key, label in labels.items() if canonical(captions[key]) != label}
    assert captions.keys() == labels.keys()
    assert wrong == {key for keys in REPAIRED_LABELS[name].values() for key in keys}


@pytest.mark.parametrize("name", POSSIBLE)
def test_published_labels_are_canonical(name: str, shared_data: Path) -> None:
    labels = read_labels(shared_data / "crohme" / f"labels-{name}.tsv")
    assert [key for key, label in labels.items() if canonical(label) != label] == []


def canonical(latex: str) -> str:
    try:
        return " ".join(normalize(latex, strict=False))
    except LatexError as error:
        return str(error)


def raw_truths(zip_file: Path) -> dict[str, str]:
    """Name → truth, for each file of the zip that is XML."""
    truths = {}
    with ZipFile(zip_file) as files:
        for name in files.namelist():
            content = files.read(name).decode("utf-8", errors="replace")
            if content.strip():
                truths[Path(name).stem] = next(
                    (
                        element.text or ""
                        for element in ElementTree.fromstring(content)
                        if element.tag.endswith("annotation") and element.get("type") == "truth"
                    ),
                    "",
                )
    return truths
