"""What earlier undos decided anew: it is found, taken back, or let stand again."""

from __future__ import annotations

from ..decision import Decision
from ..events import Event, Proposed
from ..stream import RecordedEvent
from ..timeline import Key, key_of
from .grounds import causes_of, is_promotion
from .outlook import Outlook
from .recorded import Recorded
from .struck import Struck


class Earlier:
    """The proposals that decided recorded ones anew."""

    def __init__(self, recorded: Recorded, struck: Struck, outlook: Outlook) -> None:
        self._recorded, self._struck, self._outlook = recorded, struck, outlook
        self._redos: dict[Key, list[RecordedEvent]] = {}
        """By recorded proposal."""
        for entry in recorded.dependants:
            if isinstance(entry.event, Proposed):
                for ref in entry.event.caused_by:
                    self._redos.setdefault((ref.stream, ref.version), []).append(entry)

    def standing(self, entry: RecordedEvent) -> list[RecordedEvent]:
        """The proposals that decided the recorded one anew and stand, with what they led to."""
        standing = []
        for redo in self._redos.get(key_of(entry), []):
            assert isinstance(redo.event, Proposed)
            effect = self._recorded.effect_of(redo) if redo.event.outcome == "accepted" else None
            if not any(self._struck.is_undone(e) for e in (redo, effect) if e is not None):
                standing.append(redo)
        return standing

    def promotions_left_by(self, entry: RecordedEvent) -> set[Key]:
        """The memories that hints became when the recorded proposal, undone since, was decided anew.

        They have the other hints as causes too, and so do not fall with it; without it those may be too few.
        """
        effects = [
            effect
            for redo in self._redos.get(key_of(entry), [])
            if self._struck.is_undone(redo) and (effect := self._recorded.effect_of(redo)) is not None
        ]
        return {key_of(e) for e in effects if is_promotion(e) and not self._struck.is_undone(e)}

    def all_written_for(self, entry: RecordedEvent) -> set[Key]:
        """The events in force by which the recorded proposal was decided anew, and what they led to."""
        return {key for redo in self.standing(entry) for key in self.written_by(redo)}

    def written_by(self, redo: RecordedEvent) -> set[Key]:
        """The events in force that a proposal decided anew led to, and itself."""
        return {key_of(e) for e in self._family(redo)} - self._struck.now

    def lift(self, entry: RecordedEvent, decision: Decision) -> bool:
        """Let stand again what decided the same before and fell only with its ground.

        Returns:
            False where nothing did.
        """
        for redo in self._redos.get(key_of(entry), []):
            if not says_the_same(redo.event, decision):
                continue
            struck = [e for e in self._family(redo) if self._struck.is_undone(e)]
            strikes = [strike for e in struck if (strike := self._struck.strike_alone_on(e)) is not None]
            if struck and len(strikes) == len(struck):
                self._outlook.undo({key_of(strike) for strike in strikes})
                return True
        return False

    def _family(self, redo: RecordedEvent) -> list[RecordedEvent]:
        """A proposal decided anew, and all that it led to in the same batch."""
        assert isinstance(redo.event, Proposed)
        grounds, family = {*redo.event.caused_by, redo.ref}, [redo]
        for e in self._recorded.dependants:
            same_batch = e.event.correlation_id == redo.event.correlation_id
            if same_batch and not isinstance(e.event, Proposed) and grounds & set(causes_of(e.event)):
                family.append(e)
                grounds.add(e.ref)
        return family


def says_the_same(redo: Event, decision: Decision) -> bool:
    """Whether a proposal says what the decision says."""
    assert isinstance(redo, Proposed)
    return (redo.action, redo.outcome, redo.reason, redo.statement) == (
        decision.action,
        decision.outcome,
        decision.reason,
        decision.statement,
    ) and (decision.target is None or redo.target == decision.target)
