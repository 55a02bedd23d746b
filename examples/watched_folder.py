"""Writes NAME.tex beside every picture or ink file that comes into a folder, until stopped.

python watched_folder.py FOLDER
"""

import sys
import time
from pathlib import Path

from namer_edge import NamerEdgeError, Recognizer

SECONDS = 0.5
KINDS = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".inkml", ".json"}


def watch(folder: Path, recognizer: Recognizer) -> None:
    """Reads each file once it has stopped growing, and again when it changes."""
    seen: dict[Path, tuple[int, int]] = {}
    done: dict[Path, tuple[int, int]] = {}
    while True:
        for path in sorted(p for p in folder.iterdir() if p.suffix.lower() in KINDS):
            try:
                state = (path.stat().st_size, path.stat().st_mtime_ns)
            except FileNotFoundError:  # taken away meanwhile
                continue
            if seen.get(path) == state and done.get(path) != state:
                done[path] = state
                try:
                    latex = recognizer(path).latex
                except NamerEdgeError as error:
                    print(error, file=sys.stderr)
                    continue
                path.with_suffix(".tex").write_text(latex + "\n", "utf-8")
                print(f"{path.name}\t{latex}", flush=True)
            seen[path] = state
        time.sleep(SECONDS)


if __name__ == "__main__":
    watch(Path(sys.argv[1]), Recognizer.from_pretrained())
