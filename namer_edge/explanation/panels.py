"""Pictures of an explanation, one per stage; changes are red (as in figure 6)."""

from itertools import pairwise

import numpy as np

from namer_edge_runtime.decode.pick import EOS, SOS

from .canvas import BORDER, Canvas, Point
from .stages import Insight

SEEN, CORRECTED, KEPT = (40, 90, 200), (215, 20, 20), (20, 120, 50)
EDGE, PATH = (150, 150, 150), (200, 90, 0)
HEAT = (255, 140, 0)


def vat_map(insight: Insight) -> Canvas:
    """Heat map of 1 - P(none), and the tokens of VAT (eq. 2, 4)."""
    canvas = Canvas.of(insight.prepared.image)
    canvas.heat(1 - insight.none, HEAT)
    for node in insight.visual:
        x, y = _place(canvas, insight, node)
        canvas.dot((x, y), SEEN)
        canvas.word(f"{insight.before(node)} {insight.nodes.scores[node]:.2f}", (x, y - 3), SEEN)
    return canvas


def corrections(insight: Insight) -> Canvas:
    """The tokens after PGD (eq. 6); corrected ones are red with `before>after`, deleted ones
    crossed."""
    canvas = Canvas.of(insight.prepared.image)
    for node in sorted(insight.visual, key=insight.changed):
        x, y = at = _place(canvas, insight, node)
        before, after = insight.before(node), insight.after(node)
        if not after:
            canvas.strike(at, CORRECTED)
            canvas.word(before, (x + canvas.cell // 3, y + canvas.cell // 2), CORRECTED)
            continue
        text = f"{before}>{after}" if insight.changed(node) else after
        color = CORRECTED if insight.changed(node) else KEPT
        canvas.dot(at, color)
        canvas.word(f"{text} {insight.confidence[node]:.2f}", (x, y - 3), color)
    return canvas


def graph(insight: Insight) -> Canvas:
    """The graph's edges with their E (eq. 10), the chosen path in bold; `}` are below their
    relation."""
    canvas = Canvas.of(insight.prepared.image)
    whole = [SOS, *(int(n) for n in insight.path.nodes), EOS]
    chosen = set(pairwise(whole))
    edges = list(zip(insight.graph.sources.tolist(), insight.graph.targets.tolist(), strict=True))
    for source, target in (edge for edge in edges if edge not in chosen):
        canvas.arrow(
            _place(canvas, insight, source),
            _place(canvas, insight, target),
            EDGE,
            canvas.cell // 16,
        )
    for source, target in pairwise(whole):
        canvas.arrow(
            _place(canvas, insight, source),
            _place(canvas, insight, target),
            PATH,
            max(2, canvas.cell // 10),
        )
    alive = insight.corrected != insight.vocabulary.delete
    for node in np.flatnonzero(alive).tolist():
        x, y = at = _place(canvas, insight, node)
        canvas.dot(at, KEPT)
        name = "<sos>" if node == SOS else "<eos>" if node == EOS else insight.after(node)
        canvas.word(name, (x + 3, y - 3), KEPT)
    # Scores last, above all arrows.
    for source, target in {*edges, *chosen}:
        start, end = (_place(canvas, insight, node) for node in (source, target))
        middle = (start[0] + end[0]) // 2 - canvas.cell // 2, (start[1] + end[1]) // 2
        color = PATH if (source, target) in chosen else EDGE
        score = insight.graph.scores[source, target]
        canvas.word(f"{score:.2f}", middle, color, 0.7 * canvas.letters)
    return canvas


def attention(insight: Insight) -> list[Canvas]:
    """Cross-attention of each layer of self-correction for the `telling` node.

    The square root makes cells visible beside a dominant one.
    """
    node = insight.telling
    if insight.attention is None or node is None:
        return []
    canvases = []
    for weights in insight.attention[:, node]:
        canvas = Canvas.of(insight.prepared.image)
        canvas.heat(np.sqrt(weights / weights.max()), HEAT)
        at = _place(canvas, insight, node)
        canvas.dot(at, CORRECTED)
        canvas.word(change_of(insight, node), (at[0], at[1] - 3), CORRECTED)
        canvases.append(canvas)
    return canvases


def change_of(insight: Insight, node: int) -> str:
    """Text of a node's token before and after PGD."""
    if not insight.changed(node):
        return insight.after(node)
    return f"{insight.before(node)}>{insight.after(node) or 'deleted'}"


def _place(canvas: Canvas, insight: Insight, node: int) -> Point:
    """Position of a node; <sos> and <eos> are beside the picture, endings below their relation."""
    rows, columns = insight.none.shape
    if node in (SOS, EOS):
        return canvas.place(rows / 2, -BORDER / 2 if node == SOS else columns - 1 + BORDER / 2)
    row, column = insight.nodes.cells[node]
    ending = int(insight.nodes.endings[node])
    if not ending:
        return canvas.place(row, column)
    return canvas.place(row + 1.1, column + 1.1 * (ending - 1) + 0.4)
