"""Whether a narrower memory stands in for a wider one while its scope lasts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ..domain.policy import Policy
from ..domain.slot import fold_value
from ..domain.statement import Statement
from .keywords import KeyWordReader, KeyWords


class Narrowing:
    """Compares statements with the registry and the word lists of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._registry = policy, policy.registry

    @cached_property
    def _read(self) -> Callable[[str], KeyWords]:
        # Its patterns take longer to compile than most commands take in all.
        return KeyWordReader(self._policy).read

    def excepts(self, narrow: Statement, wide: Statement) -> bool:
        """Whether the narrow statement says, for its scope, what the wide one says otherwise.

        Of one single-valued attribute, the same value of a many-valued one, or the same aspect (order,
        length, format …) of how something is to be written or answered.
        """
        if narrow.scope.rank >= wide.scope.rank or fold_value(narrow.subject) != fold_value(wide.subject):
            return False
        if narrow.attribute == wide.attribute:
            attribute = self._registry.get(narrow.attribute)
            if attribute.cardinality == "single":
                return True
            if narrow.value is not None and wide.value is not None:
                return fold_value(narrow.value) == fold_value(wide.value)
        about = {aspect for aspect, _ in self._read(narrow.content).aspects}
        return bool(about & {aspect for aspect, _ in self._read(wide.content).aspects})
