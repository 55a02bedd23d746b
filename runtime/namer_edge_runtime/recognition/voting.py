"""Voting: the passes over one input elect its reading."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from ..result import Milliseconds, Reading, Result

EXPECTED_SCORE = 0.5
"""Score assumed for each remaining pass when deciding whether to stop early. Chosen on CROHME 2013:
70 of 100 further passes score less, a tenth fewer passes are run, and none of the 671 answers
changes from right to wrong or back."""


@dataclass
class Votes:
    """Results of the passes over one input so far; a reading's votes are the sum of its scores."""

    passes: list[Result] = field(default_factory=list)

    def add(self, result: Result) -> None:
        self.passes.append(result)

    def is_decided(self, remaining: int) -> bool:
        """Whether the first reading leads by more votes than `remaining` passes are expected to
        give the second (`EXPECTED_SCORE` each)."""
        first, second, *_ = *sorted(self._votes().values(), reverse=True), 0.0
        return first - second > remaining * EXPECTED_SCORE

    def winner(self, alternatives: int = 0) -> Result:
        """The reading with most votes, from the pass that scores it highest, with the time of all
        passes and the evidence of all.

        Its score is the mean over all passes, those that read otherwise counting 0. Of equal votes,
        the earlier reading wins. Up to `alternatives` others follow by falling score, to which the
        passes' own alternatives add theirs.
        """
        votes = self._votes()
        winner = max(votes, key=votes.__getitem__)
        agreeing = [result for result in self.passes if result.canonical == winner]
        return replace(
            max(agreeing, key=lambda result: result.score),
            score=votes[winner] / len(self.passes),
            alternatives=self._others(winner)[:alternatives],
            milliseconds=sum((r.milliseconds for r in self.passes), start=Milliseconds()),
            evidence=tuple(one for result in self.passes for one in result.evidence),
        )

    def _others(self, winner: str) -> tuple[Reading, ...]:
        scores: defaultdict[str, float] = defaultdict(float)
        surest: dict[str, Reading] = {}
        for result in self.passes:
            readings: tuple[Reading, ...] = (result, *result.alternatives)
            for reading in readings:
                key = reading.canonical
                scores[key] += reading.score / len(self.passes)
                surest[key] = max(surest.get(key, reading), reading, key=lambda r: r.score)
        others = sorted(scores.keys() - {winner}, key=lambda key: (-scores[key], key))
        return tuple(_with_score(surest[key], scores[key]) for key in others)

    def _votes(self) -> dict[str, float]:
        votes: defaultdict[str, float] = defaultdict(float)
        for result in self.passes:
            votes[result.canonical] += result.score
        return votes


def _with_score(reading: Reading, score: float) -> Reading:
    """Returns the reading of a result with another score, without the other fields of `Result`."""
    return Reading(
        reading.latex, reading.canonical, score, reading.tokens, vocabulary=reading.vocabulary
    )
