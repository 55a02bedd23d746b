"""A program for people without Python: prints the LaTeX of the files that are dropped on it.

pip install pyinstaller
pyinstaller --onedir frozen_app.py && dist/frozen_app/frozen_app formula.png
"""

import sys

from namer_edge import NamerEdgeError, Recognizer

recognizer = Recognizer.from_pretrained()
for path in sys.argv[1:]:
    try:
        print(recognizer(path).latex)
    except NamerEdgeError as error:
        print(error, file=sys.stderr)
