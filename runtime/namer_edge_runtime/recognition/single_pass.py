"""One pass of the model: preprocessing, VAT, token picking, PGD and path selection."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ..decode.decode import decode_all
from ..decode.filled import without_hollow
from ..decode.hypothesis import Hypothesis
from ..decode.options import DecodingOptions
from ..decode.pick import NodeBatch, Nodes, pick_nodes
from ..engine.base import Engine, PgdInputs, PgdOutput, VatOutput
from ..errors import NamerEdgeError
from ..formula.expression import Expression
from ..formula.nodes import to_tokens
from ..formula.vocabulary import Vocabulary
from ..ink.strokes import Strokes
from ..inputs import LoadedInput
from ..preprocessing import CELL, Prepared, Preprocessing
from ..result import Milliseconds, Reading, Result, TokenResult
from .batching import by_padded_size
from .evidence import Evidence, Lock, Places
from .locks import Certain, certain, locked_nodes, padded, stacked, with_all
from .voting import Votes


@dataclass(frozen=True)
class Stages:
    """Outputs of each stage for a batch of B pictures of one padded size."""

    vat: VatOutput
    nodes: NodeBatch
    """The picked tokens."""
    pgd_inputs: PgdInputs
    pgd: PgdOutput
    hypotheses: list[list[Hypothesis]]
    """[B] readings of each picture, best first."""
    milliseconds: Milliseconds
    """Share of one picture; `path` includes token picking."""
    made_for: list[NDArray[np.int64]] | None = None
    """[B] of [N], the lock that each node stands for, -1 for none; None without locks."""

    def evidence(self, row: int, prepared: Prepared, locks: tuple[Lock, ...]) -> Evidence:
        """Evidence of one picture, from which its path can be searched again."""
        nodes = self.nodes[row]
        own = slice(len(nodes))
        return Evidence(
            prepared,
            nodes,
            self.pgd.correction[row, own],
            self.pgd.left[row, own, own],
            self.pgd.right[row, own, own],
            self.vat.scores[row],
            self.vat.classes[row],
            locks,
            None if self.made_for is None else self.made_for[row],
        )


@dataclass(frozen=True)
class SinglePass:
    """Reads inputs once, without test-time augmentation.

    A picture is padded to its own `padded_size` alone and in a batch, and a batch holds one size,
    so the answer does not depend on the batch.
    """

    engine: Engine
    preprocessing: Preprocessing
    vocabulary: Vocabulary
    decoding: DecodingOptions
    as_picture: bool = False
    """Whether models that see how strokes were written see their picture alone."""
    locks: tuple[Lock, ...] | None = None
    """What is known of the strokes of the inputs; where it is not None, results keep their
    `evidence`."""

    def __call__(
        self,
        inputs: Sequence[LoadedInput | Prepared],
        batch_size: int = 8,
        alternatives: int = 0,
        scale: float = 1.0,
    ) -> list[Result | NamerEdgeError]:
        """A result for each input, or the error that preprocessing raised, in order.

        `scale` multiplies the symbol height that inputs are prepared to; inputs that are
        `Prepared` stay as they are. A blank page gives an empty result.
        """
        answers: dict[int, Result | NamerEdgeError] = {}
        pages: list[_Page] = []
        for number, value in enumerate(inputs):
            started = perf_counter()
            try:
                prepared = self.prepared(value, scale)
            except NamerEdgeError as error:
                answers[number] = error
                continue
            ink = value.strokes if isinstance(value, LoadedInput) else None
            page = _Page(number, prepared, ink, _milliseconds(started))
            if prepared.blank:
                answers[number] = self._empty(page)
            else:
                pages.append(page)
        for batch in by_padded_size(pages, batch_size, lambda page: page.prepared):
            answers.update(self._batch(batch, alternatives))
        return [answers[number] for number in range(len(inputs))]

    def prepared(self, value: LoadedInput | Prepared, scale: float = 1.0) -> Prepared:
        """The picture that the model reads; raises as `LoadedInput.prepare`."""
        if isinstance(value, LoadedInput):
            symbol_height = self.preprocessing.symbol_height * scale
            value = value.prepare(replace(self.preprocessing, symbol_height=symbol_height))
        return replace(value, strokes=None) if self.as_picture else value

    def stages(
        self,
        prepared: Sequence[Prepared],
        alternatives: int = 0,
        inks: Sequence[Strokes | None] = (),
    ) -> Stages:
        """All stages for pictures of one padded size, none of them blank; `inks` they were drawn
        from, for `locks`."""
        count = len(prepared)
        images = np.stack([picture.planes(self.preprocessing.inputs) for picture in prepared])
        times = [perf_counter()]
        vat = self.engine.vat(images)
        times.append(perf_counter())
        nodes = pick_nodes(vat.scores, vat.classes, vat.none, self.vocabulary, self.decoding)
        made_for = None
        if self.locks:
            nodes, made_for = self._with_locks(vat, nodes, prepared, inks)
        inputs = PgdInputs.of(vat, nodes)
        times.append(perf_counter())
        pgd = self.engine.pgd(inputs)
        times.append(perf_counter())
        found = decode_all(
            *(pgd.correction, pgd.left, pgd.right, nodes, self.vocabulary.endings, self.decoding),
            alternatives=1 + alternatives,
        )
        hypotheses = without_hollow(found, self.vocabulary)
        times.append(perf_counter())
        vat_time, pick_time, pgd_time, path_time = (1000 * np.diff(times) / count).tolist()
        spent = Milliseconds(vat=vat_time, pgd=pgd_time, path=pick_time + path_time)
        return Stages(vat, nodes, inputs, pgd, hypotheses, spent, made_for)

    def _batch(self, pages: "list[_Page]", alternatives: int) -> Iterator[tuple[int, Result]]:
        found = self.stages(
            [page.prepared for page in pages], alternatives, [page.ink for page in pages]
        )
        rows = zip(pages, found.nodes, found.hypotheses, strict=True)
        for row, (page, nodes, hypotheses) in enumerate(rows):
            spent = found.milliseconds + Milliseconds(prepare=page.milliseconds)
            result = self._result(hypotheses, nodes, page, alternatives, spent)
            if self.locks is None or page.ink is None:
                yield page.number, result
                continue
            result = replace(result, evidence=(found.evidence(row, page.prepared, self.locks),))
            if self.locks:
                result = self.search(result, self.locks, alternatives) or result
            yield page.number, result

    def search(self, result: Result, locks: Sequence[Lock], alternatives: int = 0) -> Result | None:
        """The path searched again in each pass of a result that kept its `evidence`, with what is
        known of its strokes as certainties; the passes vote. None where no pass can hold them."""
        started = perf_counter()
        places = Places(result.ink or [], locks, self.vocabulary)
        pairs = [(one, certain(one, places)) for one in result.evidence]
        held = [(one, sure) for one, sure in pairs if sure is not None]
        if not held:
            return None
        nodes = stacked([one.nodes for one, _ in held], self.vocabulary.end)
        hypotheses = decode_all(
            padded([sure.correction for _, sure in held]),
            padded([sure.left for _, sure in held]),
            padded([sure.right for _, sure in held]),
            *(nodes, self.vocabulary.endings, self.decoding),
            alternatives=1 + alternatives,
        )
        votes = Votes()
        filled = without_hollow(hypotheses, self.vocabulary)
        for (one, sure), paths in zip(held, filled, strict=True):
            paths = [with_all(path, sure, one.nodes) for path in paths]
            page = _Page(0, one.prepared, result.ink, 0.0)
            found = self._result(paths, one.nodes, page, alternatives, Milliseconds())
            votes.add(replace(found, locked=self._locked(paths[0], sure, locks)))
        spent = replace(result.milliseconds, path=_milliseconds(started))
        best = votes.winner(alternatives)
        return replace(best, milliseconds=spent, evidence=result.evidence)

    def _locked(
        self, path: Hypothesis, sure: Certain, locks: Sequence[Lock]
    ) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """`Result.locked` of a path."""
        visual = path.nodes[path.classes < self.vocabulary.size].tolist()
        symbols = [lock for lock in locks if lock.text != ""]
        return tuple(
            (visual.index(node), lock.strokes)
            for node, lock in zip(sure.nodes.tolist(), symbols, strict=True)
        )

    def _with_locks(
        self,
        vat: VatOutput,
        nodes: NodeBatch,
        prepared: Sequence[Prepared],
        inks: Sequence[Strokes | None],
    ) -> tuple[NodeBatch, list[NDArray[np.int64]]]:
        """The nodes of each picture, with one for each lock, and which lock each is of."""
        assert self.locks is not None
        rows = zip(nodes, prepared, vat.scores, vat.classes, inks, strict=True)
        locked = [
            locked_nodes(own, page, scores, classes, Places(ink or [], self.locks, self.vocabulary))
            for own, page, scores, classes, ink in rows
        ]
        nodes = stacked([own for own, _ in locked], self.vocabulary.end)
        return nodes, [numbers for _, numbers in locked]

    def _result(
        self,
        hypotheses: list[Hypothesis],
        nodes: Nodes,
        page: "_Page",
        alternatives: int,
        spent: Milliseconds,
    ) -> Result:
        distinct: dict[tuple[str, ...], Hypothesis] = {}
        for hypothesis in hypotheses:
            names = [self.vocabulary.token(int(number)) for number in hypothesis.classes]
            distinct.setdefault(tuple(to_tokens(names, self.vocabulary)), hypothesis)
        best, *others = [
            self._reading(Expression(tokens, self.vocabulary), hypothesis, nodes, page.prepared)
            for tokens, hypothesis in list(distinct.items())[: 1 + alternatives]
        ]
        return Result(
            best.latex,
            best.canonical,
            best.score,
            best.tokens,
            tuple(others),
            *self._ran(),
            milliseconds=spent,
            truncated=nodes.truncated,
            prepared=page.prepared,
            ink=page.ink,
            vocabulary=self.vocabulary,
            notes=page.prepared.notes,
        )

    def _reading(
        self, expression: Expression, hypothesis: Hypothesis, nodes: Nodes, prepared: Prepared
    ) -> Reading:
        return Reading(
            expression.latex,
            expression.canonical,
            float(hypothesis.score),
            self._tokens(hypothesis, nodes, prepared),
            vocabulary=self.vocabulary,
        )

    def _tokens(
        self, hypothesis: Hypothesis, nodes: Nodes, prepared: Prepared
    ) -> tuple[TokenResult, ...]:
        """The visual tokens on the path, at the centers of their cells."""
        visual = np.flatnonzero(hypothesis.classes < self.vocabulary.size)
        cells = nodes.cells[hypothesis.nodes[visual]]
        places = prepared.to_input((cells[:, ::-1] + 0.5) * CELL)
        return tuple(
            TokenResult(
                self.vocabulary.token(int(hypothesis.classes[place])),
                float(hypothesis.node_scores[place]),
                float(x),
                float(y),
            )
            for place, (x, y) in zip(visual, places, strict=True)
        )

    def _empty(self, page: "_Page") -> Result:
        return Result(
            *("", "", 0.0, (), (), *self._ran()),
            milliseconds=Milliseconds(prepare=page.milliseconds),
            prepared=page.prepared,
            ink=page.ink,
        )

    def _ran(self) -> tuple[str, str, str]:
        return self.engine.name, self.engine.device, self.engine.precision


@dataclass(frozen=True)
class _Page:
    """One prepared input of a pass."""

    number: int
    prepared: Prepared
    ink: Strokes | None
    milliseconds: float


def _milliseconds(started: float) -> float:
    return (perf_counter() - started) * 1000
