"""Label files: one formula a line, NAME, a tab, canonical LaTeX tokens with spaces between."""

from pathlib import Path

from namer_edge_runtime.errors import DataError


def read_labels(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Name → canonical tokens. Raises `DataError` for a missing file or a line without a tab, and
    where two lines give one name different labels."""
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: label file cannot be read ({error})") from error
    labels: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, tab, label = line.partition("\t")
        if not tab:
            raise DataError(f"{path}, line {number}: expected NAME, a tab, and tokens")
        tokens = tuple(label.split())
        if labels.setdefault(name, tokens) != tokens:
            raise DataError(f"{path}, line {number}: {name} has two different labels")
    return labels
