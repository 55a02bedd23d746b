"""Several looks at one input, and the reading that they elect."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from .result import Milliseconds, Reading, Result

POWER = 0.25
"""A look's vote is its score to this power: scores of wrong and right readings lie orders of
magnitude apart, and a look that is less sure should still have a say beside a surer one."""


@dataclass
class Ballot:
    """The looks at one input so far. A reading gathers the votes of all looks that agree on it."""

    looks: list[Result] = field(default_factory=list)

    def add(self, look: Result) -> None:
        self.looks.append(look)

    @property
    def lead(self) -> float:
        """Votes of the first reading before the second; a look that is to come has one at most."""
        first, second, *_ = *sorted(self._votes().values(), reverse=True), 0.0
        return first - second

    def elected(self, alternatives: int = 0) -> Result:
        """The reading with most votes, as its surest look has it, with the time of all looks.

        Its score is the mean over all looks, those that read otherwise counting 0. Of equal votes,
        the earlier reading wins. Up to `alternatives` others follow by falling votes; for these,
        what a look only holds possible counts as well, by the score it gives it.
        """
        votes = self._votes()
        winner = max(votes, key=votes.__getitem__)
        agreeing = [look for look in self.looks if look.canonical == winner]
        spent = sum((look.milliseconds for look in self.looks), start=Milliseconds())
        return replace(
            max(agreeing, key=lambda look: look.score),
            score=sum(look.score for look in agreeing) / len(self.looks),
            alternatives=self._others(winner)[:alternatives],
            milliseconds=spent,
        )

    def _others(self, winner: str) -> tuple[Reading, ...]:
        votes: defaultdict[str, float] = defaultdict(float)
        scores: defaultdict[str, float] = defaultdict(float)
        surest: dict[str, Reading] = {}
        for look in self.looks:
            readings: tuple[Reading, ...] = (look, *look.alternatives)
            for reading in readings:
                said = reading.canonical
                votes[said] += reading.score**POWER
                scores[said] += reading.score / len(self.looks)
                surest[said] = max(surest.get(said, reading), reading, key=lambda r: r.score)
        others = sorted(votes.keys() - {winner}, key=lambda said: (-votes[said], said))
        return tuple(
            Reading(surest[said].latex, said, scores[said], surest[said].tokens) for said in others
        )

    def _votes(self) -> dict[str, float]:
        votes: defaultdict[str, float] = defaultdict(float)
        for look in self.looks:
            votes[look.canonical] += look.score**POWER
        return votes
