"""Reads all pictures and ink files of folders on a Ray cluster: path TAB LaTeX, a line for each.

pip install 'namer-edge[ray]'
python ray_batch.py FOLDER...

`namer-edge recognize --ray FOLDER... --jsonl OUT` does the same with scores, and goes on after
a stop.
"""

import sys
from pathlib import Path
from typing import Any

import ray

from namer_edge import NamerEdgeError, Recognizer

KINDS = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".inkml"}


class Reader:
    """Holds one recognizer in each worker."""

    def __init__(self) -> None:
        self.recognizer = Recognizer.from_pretrained(threads=1)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        try:
            return {**row, "latex": self.recognizer(row["path"]).latex}
        except NamerEdgeError as error:
            return {**row, "latex": f"% {error}"}


if __name__ == "__main__":
    found = (p for folder in sys.argv[1:] for p in Path(folder).rglob("*"))
    paths = sorted(str(p.resolve()) for p in found if p.suffix.lower() in KINDS)
    rows = ray.data.from_items([{"path": path} for path in paths])
    for row in rows.map(Reader, concurrency=(1, 8)).sort("path").iter_rows():
        print(row["path"], row["latex"], sep="\t")
