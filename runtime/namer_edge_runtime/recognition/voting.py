"""Several looks at one input, and the reading that they elect."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from ..result import Milliseconds, Reading, Result

EXPECTED_SCORE = 0.5
"""Score that a look to come is reckoned with. Of the second looks at CROHME 2013 70 of 100 have
less, and of its 671 answers none turns right or wrong for it, with a tenth fewer looks."""


@dataclass
class Votes:
    """The looks at one input so far. A reading gathers the scores of all looks that agree on it: as
    many times its probability as there are looks, if each is as likely as the others to be true."""

    looks: list[Result] = field(default_factory=list)

    def add(self, preprocessing: Result) -> None:
        self.looks.append(preprocessing)

    def is_decided(self, left: int) -> bool:
        """Whether the first reading is so far before the second that `left` looks to come are not
        worth their time: they would have to read the second with `EXPECTED_SCORE` each to overtake it."""
        first, second, *_ = *sorted(self._votes().values(), reverse=True), 0.0
        return first - second > left * EXPECTED_SCORE

    def winner(self, alternatives: int = 0) -> Result:
        """The reading with most votes, as its surest look has it, with the time of all looks.

        Its score is the mean over all looks, those that read otherwise counting 0. Of equal votes,
        the earlier reading wins. Up to `alternatives` others follow by falling score; for these,
        what a look only holds possible counts as well, by the score it gives it.
        """
        votes = self._votes()
        winner = max(votes, key=votes.__getitem__)
        agreeing = [
            preprocessing for preprocessing in self.looks if preprocessing.canonical == winner
        ]
        spent = sum(
            (preprocessing.milliseconds for preprocessing in self.looks), start=Milliseconds()
        )
        return replace(
            max(agreeing, key=lambda preprocessing: preprocessing.score),
            score=votes[winner] / len(self.looks),
            alternatives=self._others(winner)[:alternatives],
            milliseconds=spent,
        )

    def _others(self, winner: str) -> tuple[Reading, ...]:
        scores: defaultdict[str, float] = defaultdict(float)
        surest: dict[str, Reading] = {}
        for preprocessing in self.looks:
            readings: tuple[Reading, ...] = (preprocessing, *preprocessing.alternatives)
            for reading in readings:
                said = reading.canonical
                scores[said] += reading.score / len(self.looks)
                surest[said] = max(surest.get(said, reading), reading, key=lambda r: r.score)
        others = sorted(scores.keys() - {winner}, key=lambda said: (-scores[said], said))
        return tuple(
            Reading(surest[said].latex, said, scores[said], surest[said].tokens) for said in others
        )

    def _votes(self) -> dict[str, float]:
        votes: defaultdict[str, float] = defaultdict(float)
        for preprocessing in self.looks:
            votes[preprocessing.canonical] += preprocessing.score
        return votes
