"""What a plan undoes: what was asked for, and what goes or comes back with it."""

from __future__ import annotations

from collections.abc import Set

from ..events import RolledBack
from ..stream import RecordedEvent
from ..timeline import Key, key_of
from .grounds import falls, is_promotion, rests_on_others
from .recorded import Recorded


class Struck:
    """The events that are undone once the plan is carried out.

    It is closed at any time: nothing stands on struck ground, and nothing that fell with its ground
    alone lies while that stands again.

    Args:
        recorded: The owner's events.
        asked: The events that are to be undone.
    """

    def __init__(self, recorded: Recorded, asked: Set[Key]) -> None:
        self._recorded, self.asked = recorded, asked
        self._named = set(asked)
        self._undoes = any(isinstance(recorded.event(key).event, RolledBack) for key in asked)
        self.before = self.now = recorded.line.struck
        """All that is undone at present, and all that will be."""
        self._close()

    @property
    def changed(self) -> set[Key]:
        """What is undone, and what counts again."""
        return self.now ^ self.before

    def is_undone(self, entry: RecordedEvent) -> bool:
        """Whether the event no longer counts once the plan is carried out."""
        return key_of(entry) in self.now

    def is_asked(self, entry: RecordedEvent) -> bool:
        """Whether somebody wants the event undone."""
        return key_of(entry) in self.asked

    def is_named(self, entry: RecordedEvent) -> bool:
        """Whether the plan undoes the event itself."""
        return key_of(entry) in self._named

    def add(self, keys: Set[Key]) -> bool:
        """Undo these as well.

        Returns:
            Whether that changes what is undone in the end.
        """
        before = self.now
        self._named |= keys
        self._close()
        return self.now != before

    def _close(self) -> None:
        """Name what cannot stand on struck ground, and lift earlier strikes whose ground is back."""
        while True:
            self.now = self._recorded.line.struck_by(self._named)
            # Grounds come back before it is asked what lacks one.
            more = {
                key_of(strike)
                for strike in self._recorded.strikes
                if not self.is_undone(strike) and self._can_stand(self._recorded.struck_alone(strike))
            } or {
                key_of(entry)
                for entry in self._recorded.dependants
                if not self.is_undone(entry) and falls(entry.event, self.now)
            }
            if not more:
                return
            self._named |= more

    def _can_stand(self, entry: RecordedEvent) -> bool:
        """Whether what fell with its ground may stand again by that alone, without a decision."""
        if self._recorded.line.is_derived(entry) or not rests_on_others(entry.event):
            return False
        if is_promotion(entry) or self._recorded.takes_back(entry):
            return False
        return not falls(entry.event, self.now)

    def undoings(self) -> tuple[dict[str, tuple[int, ...]], list[Key]]:
        """What each stream's rollback names, and what an undo strikes besides what it was asked to."""
        apart = [
            key
            for key in self._named - self.asked
            if self._undoes and not isinstance(self._recorded.event(key).event, RolledBack)
        ]
        main, line = self._named - set(apart), self._recorded.line
        names = {
            stream: tuple(sorted(version for other, version in main if other == stream))
            for stream in dict.fromkeys(stream for stream, _ in line.in_order(main))
        }
        return names, line.in_order(apart)

    def strike_alone_on(self, effect: RecordedEvent) -> RecordedEvent | None:
        """The strike of an earlier undo by which alone the event is undone; None when there is more."""
        mine = [
            strike
            for strike in self._recorded.strikes
            if strike.stream_id == effect.stream_id
            and not self.is_undone(strike)
            and self._recorded.struck_alone(strike) is effect
        ]
        if not mine:
            return None
        without = self._recorded.line.struck_by(self._named | {key_of(strike) for strike in mine})
        return None if key_of(effect) in without else mine[-1]
