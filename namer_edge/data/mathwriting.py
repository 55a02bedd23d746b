"""MathWriting: unsegmented ink whose label is an annotation of the file.

InkML of the folders `train`, `valid`, `test`, `synthetic`. The label is `normalizedLabel`, which
has no style and one spelling per symbol, or `label` if that is missing.
"""

from pathlib import Path

from tqdm import tqdm

from namer_edge_runtime.errors import InkError, LatexError
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.inkml import Ink, iterate_ink

from .formula import Formula, unplaced
from .formula_set import FormulaSet
from .labels import check_unused, label_error, labels_by_name
from .report import Remarks

ANNOTATIONS = ("normalizedLabel", "label")


def load_mathwriting(
    ink: str | Path,
    labels: str | Path | None = None,
    vocabulary: Vocabulary | None = None,
    *,
    progress: bool = False,
) -> FormulaSet:
    """Loads a folder, zip or file of MathWriting's InkML.

    `labels` (`name TAB LaTeX`), if given, replace the files' own. The ink is not segmented, so
    formulas have no positions; training needs a teacher. A label that is no formula of the
    vocabulary (a matrix) goes into the report with its reason, and its formula has no tokens.
    Raises `InkError` or `DataError` if `ink` or `labels` itself cannot be read.
    """
    vocabulary = vocabulary or Vocabulary.load("mathwriting")
    named = labels_by_name(labels) if labels is not None else {}
    published = {name: label.latex for name, label in named.items()}
    formulas: list[Formula] = []
    remarks = Remarks()
    found: set[str] = set()
    files = tqdm(iterate_ink(ink), unit=" files", disable=None if progress else True)
    for name, content in files:
        check_unused(name, found)
        found.add(name)
        if isinstance(content, InkError):
            remarks.add("unreadable", name, str(content).removeprefix(f"{name}: "))
            continue
        latex = _label(content) if labels is None else published.get(name)
        tokens: tuple[str, ...] = ()
        if latex is None:
            remarks.add("unlabeled", name, "no label, so there is nothing to learn")
        else:
            try:
                tokens = tuple(normalize(latex, vocabulary))
                reason = label_error(tokens, vocabulary)
            except LatexError as error:
                reason = str(error)
            if reason is not None:
                remarks.add("disagreeing", name, reason)
        formulas.append(unplaced(name, tokens, content.strokes))
    for name in sorted(published.keys() - found):
        remarks.add("inkless", name, "no file")
    return FormulaSet(formulas, remarks.report(len(formulas)))


def _label(ink: Ink) -> str | None:
    return next((ink.annotations[key] for key in ANNOTATIONS if key in ink.annotations), None)
