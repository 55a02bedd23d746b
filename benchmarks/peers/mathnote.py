"""`mathnote-ocr` (strokes; its weights come with its wheel), run by the Python that has it:

    namer-edge benchmark DATA --ink-peer 'mathnote-ocr=python mathnote.py -'

Reads the path of a JSON file with strokes in each line, answers with a line of LaTeX. On one
thread, as our rows are by default.
"""

import json
import sys
from contextlib import redirect_stdout

import torch
from mathnote_ocr import MathOCR


def main() -> None:
    torch.set_num_threads(1)
    answers = sys.stdout
    with redirect_stdout(sys.stderr):  # whatever the package prints is no answer
        ocr = MathOCR()
        for path in sys.stdin:
            try:
                with open(path.strip(), encoding="utf-8") as file:
                    latex = ocr.detect(json.load(file)).latex
            except Exception as error:
                print(f"{path.strip()}: {error}", file=sys.stderr)
                latex = ""
            print(" ".join(latex.split()), file=answers, flush=True)


if __name__ == "__main__":
    main()
