"""`pmsh-ocr` (primary school formulas; its weights come with its wheel), run by the Python that has
it:

    namer-edge benchmark DATA --only '0 1 2 3 4 5 6 7 8 9 . - < = > \\frac' \
        --peer 'pmsh-ocr=python pmsh_ocr.py -'

Reads the path of a PNG in each line, answers with a line of LaTeX. On one thread, as our rows are
by default: the package itself opens its graphs with as many as there are processors.
"""

import sys
from functools import partial

import cv2
import onnxruntime
from pmsh import PMSHOCR


def main() -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession
    onnxruntime.InferenceSession = partial(session, sess_options=options)
    ocr = PMSHOCR()
    for path in sys.stdin:
        found = ocr.inference(cv2.imread(path.strip()))
        print(found["ctc_text"] if found else "", flush=True)


if __name__ == "__main__":
    main()
