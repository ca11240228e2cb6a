"""The engine: which rules are tried where, and how a match becomes a candidate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from ...domain.candidate import Candidate, Signal, SignalKind
from ...domain.evidence import Span, bind
from ...domain.judgement import Judgement
from ...domain.ports import Prepared
from ..gate import gate_words
from ..segment import MASK, Clause
from ..signals import Seen, kinds_of, to_signals
from ..text import normalise
from ..timeexpr import TimeExpr
from .builders import BUILDERS
from .past import put_in_time
from .reading import Reading, Spoken, Subject, names_subject, trimmed
from .remembered import goes_over, points_at
from .rules import Rule, all_rules, rule_index

EXTRACTOR = "rules/1"
"""Name and version, as candidates carry it."""

MAX_CANDIDATES = 40
"""Candidates per turn; more come only from text made to flood the store."""

_NEGATED = re.compile(r"不要|别(?!忘)|不用|(?<![a-z])(?:don'?t|do not|no need)(?![a-z])")
_ORDERS = frozenset({"instruction", "answer_style", "constraint", "address_form", "topic_boundary", "habit"})
"""Rolled eyes turn praise into sarcasm; an order stays an order."""
_OF_SIGNALS = frozenset(get_args(SignalKind)) - {"question"}
"""Conditions that only a signal of that kind fulfils."""
_LATER = frozenset({"joke", "correction", "lasting", "everything", "emotion", "hedge"})


@dataclass
class Found:
    """A rule's pattern, met in a unit of text (a clause, a sentence or the rest of one)."""

    rule: Rule
    match: re.Match[str]
    base: int
    """Where the unit begins in the normalised text."""
    text: str
    """The unit's normalised text."""
    spoken: Spoken
    clause_index: int
    reading: Reading

    @property
    def clause(self) -> Clause:
        """The clause in which the match begins."""
        return self.spoken.sentence.clauses[self.clause_index]

    @property
    def prepared(self) -> Prepared:
        """The turn."""
        return self.reading.prepared

    def has(self, group: str) -> bool:
        """Whether the group took part in the match and holds something."""
        return group in self.match.re.groupindex and bool(self.match.group(group))

    def norm(self, group: str) -> str:
        """The group in normalised text; empty when it took no part."""
        return self.match.group(group) or "" if group in self.match.re.groupindex else ""

    def words(self, group: str, *, trim: bool = True) -> str:
        """The group in the user's own spelling, end particles trimmed; empty when it took no part."""
        if not self.has(group):
            return ""
        start, end = self.match.span(group)
        said = self.reading.original(self.base + start, self.base + end)
        return trimmed(said) if trim else said.strip()

    def plain(self, group: str) -> str:
        """The group in simplified characters and plain width, upper case kept: the form of values."""
        return normalise(self.words(group), fold_case=False).text

    def times(self, text: str) -> tuple[TimeExpr, ...]:
        """The time expressions of some of the words."""
        return self.reading.times(text)

    def text_behind(self) -> str:
        """The user's own words from the match to the sentence's end."""
        return self.reading.original(self.base + self.match.end(), self.spoken.sentence.end)

    def original_match(self) -> str:
        """The user's own words of the whole match, end particles trimmed."""
        start, end = self.match.span()
        return trimmed(self.reading.original(self.base + start, self.base + end))

    @cached_property
    def seen(self) -> tuple[Seen, ...]:
        """The signals that bear on the match; offsets count from the sentence's start."""
        return tuple(one for one in self.spoken.seen if self._bears(one))

    def _bears(self, one: Seen) -> bool:
        if one.entry.kind == "no_memory":
            return False  # a turn's signal: it says itself what it bears on
        if one.entry.kind == "joke" and self.rule.attribute in _ORDERS and self._is_emoji(one):
            return False
        if one.entry.kind == "third_party" and self.rule.attribute in _ORDERS:
            return False  # the wish is the user's own, whomever it mentions
        if one.entry.kind == "reported" and self.rule.attribute == "constraint":
            return False  # whoever asked for it, it binds
        place = self.spoken.clause_at(one.start)
        first = self.clause_index
        last = self.spoken.clause_at(self.base + self.match.end() - self.spoken.sentence.start - 1)
        if self.rule.unit != "clause":
            last = max(last, len(self.spoken.sentence.clauses) - 1)
        match one.entry.reach:
            case "clause":
                return first <= place <= last or (place < first and self._still_then(one, place))
            case "sentence":
                return place <= last
            case _:
                return place <= last or one.entry.kind in _LATER

    def _still_then(self, one: Seen, place: int) -> bool:
        """Whether the day that a Chinese clause names still frames this one, which says no subject."""
        if one.entry.kind != "passing" or one.entry.value == "present" or one.entry.id[:3] != "zh.":
            return False
        clauses = self.spoken.sentence.clauses[place + 1 : self.clause_index + 1]
        return not any(names_subject(clause.text) for clause in clauses)

    def _is_emoji(self, one: Seen) -> bool:
        start = self.spoken.sentence.start
        said = self.reading.parts.norm.text[start + one.start : start + one.end]
        return not any(ch.isalnum() for ch in said)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the signals that bear on the match."""
        return kinds_of(self.seen)

    @cached_property
    def subject(self) -> Subject:
        """Who the match is about."""
        return self.spoken.subjects[self.clause_index]

    def _is_asked(self) -> bool:
        """Whether the question mark at the sentence's end asks for what was matched, and not for more.

        A short clause asks back about what stands ahead of it: "I live in Leeds, right?"
        """
        sentence = self.spoken.sentence
        last = sentence.clauses[-1]
        if not sentence.question or len(sentence.clauses) == 1:
            return sentence.question
        return self.base + self.match.end() > last.start or len(last.text) <= _ASKS_BACK

    def holds(self, condition: str) -> bool:
        """Whether a condition of `need` or `forbid` holds here."""
        match condition:
            case "question":
                whole = self.rule.unit == "sentence" and self._is_asked()
                return self.clause.question or whole or "question" in self.kinds
            case "task":
                return self.reading.has_task
            case "project_in_hand":
                return bool(self.prepared.context.project) or "project" in self.kinds
            case "job":
                return self.reading.job
            case "order":
                return self.spoken.order
            case "answer":
                return self.spoken.answer
            case "answerish":
                return self.spoken.answerish
            case "family_named":
                return self.spoken.family is not None
            case "dated":
                return self.reading.end_named_in(self.spoken) is not None
            case "standing":
                return self.spoken.standing
            case "standing_for_answers":
                return self.spoken.for_answers
            case "standing_for_tasks":
                return self.spoken.for_tasks
            case "standing_words":
                return self.spoken.lasts
            case "artefact":
                in_hand = self.reading.has_task and not self.spoken.answerish
                return "limiting" in self.spoken.kinds and (self.spoken.names_artefact or in_hand)
            case "negated_order":
                return _NEGATED.search(self.clause.text) is not None
            case "today":
                return any(s.entry.kind == "passing" and s.entry.value != "present" for s in self.seen)
            case "thanks":
                return (
                    gate_words().thanks.search(self.spoken.sentence.text, self.spoken.sentence.pieces)
                    is not None
                )
            case "other_person":
                return self.subject.is_other and not self.has("me")
            case _:
                return condition in self.kinds


_ASKS_BACK = 12
"""Code points of the longest clause that only asks back."""


class RuleExtractor:
    """Finds candidates by the rules in the package's data. Deterministic, without any model.

    `retold` says that the text is a rule's plain wording of what was said, which is not reworded again.
    """

    def __init__(self, *, retold: bool = False) -> None:
        self._retold = retold

    def extract(self, prepared: Prepared, judgement: Judgement | None = None) -> Sequence[Candidate]:
        """Candidates in the order of the words they rest on; empty when there is none."""
        reading = Reading(prepared, retold=True) if self._retold else Reading.of(prepared)
        found: list[tuple[int, Candidate]] = []
        for spoken in reading.spoken:
            found += _in_sentence(spoken, reading)
            if len(found) > MAX_CANDIDATES:
                break
        found = _told_once(_named_before_vague(found))
        found.sort(key=lambda pair: pair[0])
        return [candidate for _, candidate in found[:MAX_CANDIDATES]]


def _named_before_vague(results: list[tuple[int, Candidate]]) -> list[tuple[int, Candidate]]:
    """Where a turn names what is taken back, "forget I said it" beside it means nothing more."""
    retractions = [one for _, one in results if one.kind == "retraction"]
    if not any(one.target_words for one in retractions):
        return results
    return [(at, one) for at, one in results if one.kind != "retraction" or one.target_words]


def _told_once(results: list[tuple[int, Candidate]]) -> list[tuple[int, Candidate]]:
    """Of words in which a rule for a form of wish finds a habit, the rule for any wish has no more to say."""
    formed = [
        span for _, one in results for span in _spans(one) if one.kind == "hint" and not _is_any_wish(one)
    ]
    return [
        (at, one)
        for at, one in results
        if not _is_any_wish(one)
        or not any(a.start < b.end and b.start < a.end for a in _spans(one) for b in formed)
    ]


def _is_any_wish(one: Candidate) -> bool:
    return one.kind == "hint" and one.rule.endswith(".hint.wish")


def _spans(one: Candidate) -> list[Span]:
    return [span for item in one.evidence for span in item.spans]


def _in_sentence(spoken: Spoken, reading: Reading) -> list[tuple[int, Candidate]]:
    """Candidates of one sentence, none from a clause with a masked secret or one that speaks of it."""
    rules = all_rules()
    sentence = spoken.sentence
    calls: dict[int, list[int]] = {}
    for start, _, places in rule_index().scan(sentence.text):
        for place in places:
            calls.setdefault(place, []).append(start)
    results: list[tuple[int, Candidate]] = []
    taken: list[tuple[int, int]] = []
    withdrawn: list[tuple[int, int]] = []
    said: set[tuple[str, str]] = set()
    for place in sorted(calls):
        rule = rules[place]
        if not rule.needs.met_in(sentence.text, sentence.pieces):
            continue
        if rule.need and not all(_may_hold(one, spoken, reading) for one in rule.need):
            continue
        for found in _matches(rule, calls[place], spoken, reading):
            start, end = found.base + found.match.start(), found.base + found.match.end()
            if rule.tier == "free" and any(start < b and a < end for a, b in taken):
                continue
            if (spoken.masked and _of_secret(found)) or any(start < b and a < end for a, b in withdrawn):
                continue
            candidates = [one for one in _candidates(found) if _key(one) not in said]
            said |= {_key(one) for one in candidates}
            results += [(start, one) for one in candidates]
            if candidates and rule.tier != "also":
                taken.append((start, end))
            if any(one.kind == "retraction" for one in candidates):
                withdrawn.append((start, end))
    return results


_POINTS_AT_SECRET = re.compile(
    r"这|那|它|此|上面|前面|密码|口令|号码?|[码卡存记填输登拨打发传保密转收藏]"
    r"|(?<![a-z])(?:it|its|this|that|these|those|them|password|code|pin|key|number|address|save|store|remember|keep"
    r"|log|login|call|text|send|use|share)(?![a-z])"
)
"""Words by which a clause may speak of the secret beside it."""


def _of_secret(found: Found) -> bool:
    """Whether a match holds a masked secret, or its words may be about the one in their sentence."""
    if MASK in found.match.group() or MASK in found.clause.text:
        return True
    if found.rule.tier == "slot" and found.rule.kind == "fact":
        return False
    return _POINTS_AT_SECRET.search(found.match.group()) is not None


def _may_hold(condition: str, spoken: Spoken, reading: Reading) -> bool:
    """Whether a needed condition may hold for some match in the sentence; see `Found.holds`.

    Asked before the patterns are tried: a third of the time that they took went into matches that
    lacked a task, a project or a limiting word.
    """
    match condition:
        case "task":
            return reading.has_task
        case "project_in_hand":
            return bool(reading.prepared.context.project) or "project" in spoken.kinds
        case "artefact":
            return "limiting" in spoken.kinds
        case "standing" | "standing_for_answers" | "standing_words":
            return spoken.lasts
        case _:
            return condition not in _OF_SIGNALS or condition in spoken.kinds


def _matches(rule: Rule, calls: list[int], spoken: Spoken, reading: Reading) -> list[Found]:
    """The first match of the rule in each unit that holds one of its words."""
    found: list[Found] = []
    tried: set[tuple[int, int]] = set()
    sentence = spoken.sentence
    for call in calls:
        index = spoken.clause_at(call)
        if rule.unit == "clause":
            base, end = sentence.clauses[index].start, sentence.clauses[index].end
        elif rule.unit == "rest":
            base, end = sentence.clauses[index].start, sentence.end
        else:
            base, end = sentence.start, sentence.end
        if spoken.masked and rule.unit != "clause":
            base, end = _without_secrets(spoken, index, base, end)
        if (base, end) in tried:
            continue
        tried.add((base, end))
        first, last = max(base, spoken.core[0]), min(end, spoken.core[1])
        # Without "keep that in mind" around them words say plainly what they say; some rules want just these.
        units = (
            [(first, last), (base, end)] if (first, last) != (base, end) and first < last else [(base, end)]
        )
        for start, until in units:
            one = _first_match(rule, start, until, spoken, reading)
            if one is not None:
                found.append(one)
                break
    return found


def _first_match(rule: Rule, start: int, end: int, spoken: Spoken, reading: Reading) -> Found | None:
    text = reading.parts.norm.text[start:end]
    for sought in rule.sought:
        match = sought.search(text, spoken.sentence.pieces)
        if match is not None and match.end() > match.start():
            at = spoken.clause_at(start + match.start() - spoken.sentence.start)
            return Found(rule, match, start, text, spoken, at, reading)
    return None


def _without_secrets(spoken: Spoken, index: int, start: int, end: int) -> tuple[int, int]:
    """The part of a stretch around a clause up to the clauses that hold a masked secret."""
    for place, clause in enumerate(spoken.sentence.clauses):
        if MASK in clause.text:
            if place < index:
                start = max(start, spoken.sentence.clauses[place + 1].start)
            elif place > index:
                return start, min(end, spoken.sentence.clauses[place - 1].end)
    return start, end


def _key(candidate: Candidate) -> tuple[str, str]:
    return candidate.attribute, (candidate.value or candidate.content).casefold()


def _candidates(found: Found) -> list[Candidate]:
    rule = found.rule
    if any(found.holds(condition) is not wanted for condition, wanted in rule.conditions):
        return []
    if rule.kind == "hint" and found.holds("exception"):
        return []  # what is an exception for once tells nothing about a habit
    if rule.builder is None:
        variants: list[Mapping[str, Any]] = [{}]
    else:
        built = BUILDERS[rule.builder](found)
        if built is None:
            return []
        variants = built if isinstance(built, list) else [built]
    made = (_candidate(found, changes) for changes in variants)
    return [candidate for candidate in made if candidate is not None]


def _candidate(found: Found, changes: Mapping[str, Any]) -> Candidate | None:
    draft = _draft(found) | dict(changes)
    if not draft["content"].strip() or MASK in draft["content"] or MASK in (draft["value"] or ""):
        return None
    draft["signals"] = _signals(found, draft.pop("extra_signals", ()))
    draft |= _put_right(found, draft)
    if draft["kind"] == "retraction" and found.rule.lang == "zh":
        if draft["intent"] == "end" and goes_over(normalise(found.text_behind()).text):
            return None
        if draft["target_words"]:
            draft["target_words"] = points_at(found.prepared.known, draft["target_words"])
    draft |= put_in_time(found, draft)
    draft["certainty"] = draft.get("certainty") or _certainty(draft["signals"])
    return Candidate(**draft)


_NOT_SO = re.compile(
    r"\A[,，\s]*(?:(?:而|并|可|根本)?(?:不是|并非|不叫|不姓|不住|不在|not )"
    r"|(?:你|之前|上次|怎么|给|可能|是不是|又|都|老)*[记写说听看搞弄存]成(?:了|是)?)"
    r"(?P<former>[^,，。.!！?？;；]{1,16})"
)


def _put_right(found: Found, draft: Mapping[str, Any]) -> dict[str, Any]:
    """A denial behind it ("X, not Y") and words such as "you got it wrong" make a plain fact a correction."""
    if draft["kind"] not in ("fact", "state") or draft["intent"] not in ("assert", "change"):
        return {}
    denied = _NOT_SO.match(found.text_behind())
    if denied is None and "correction" not in found.kinds:
        return {}
    former = trimmed(denied.group("former")) if denied else draft["former_value"]
    return {"intent": "correct", "former_value": former}


def _draft(found: Found) -> dict[str, Any]:
    rule = found.rule
    words = _Words(found)
    plain = _Plain(found)
    return {
        "kind": rule.kind,
        "intent": rule.intent,
        "subject": "user",
        "attribute": rule.attribute,
        "value": _filled(rule.value, plain) or None,
        "former_value": _filled(rule.former_value, plain) or None,
        "content": (_filled(rule.content, words) or "").strip(),
        "polarity": rule.polarity,
        "exclusive": rule.exclusive or "exclusive" in found.kinds,
        "source": rule.source,
        "extractor": EXTRACTOR,
        "rule": rule.id,
        "category": rule.category,
        "stability": rule.stability,
        "importance": rule.importance,
        "family": _family(found),
        "process": rule.process,
        "final": rule.final,
        "target_words": _filled(rule.target_words, words),
        "hint_key": _filled(rule.hint_key, plain) or None,
        "evidence": (_evidence(found),),
    }


class _Words(dict[str, str]):
    def __init__(self, found: Found) -> None:
        super().__init__()
        self._found = found

    def __missing__(self, group: str) -> str:
        return self._found.words(group)


class _Plain(_Words):
    def __missing__(self, group: str) -> str:
        return self._found.plain(group)


def _filled(template: str | None, words: Mapping[str, str]) -> str | None:
    return None if template is None else template.format_map(words).strip()


def _family(found: Found) -> str | None:
    named = found.spoken.family
    match found.rule.family:
        case None:
            return None
        case "words":
            return named[0] if named else None
        case "task":
            return found.reading.task_family
        case "any":
            return named[0] if named else found.reading.task_family
        case name:
            return name


def _evidence(found: Found) -> Any:
    group = "evidence" if found.has("evidence") else 0
    start, end = found.match.span(group)
    first, last = found.reading.parts.norm.span(found.base + start, found.base + end)
    context = found.prepared.context
    return bind(context.turn_id, found.prepared.text, (Span(start=first, end=last),))


def _signals(found: Found, extra: Sequence[Signal]) -> tuple[Signal, ...]:
    norm = found.reading.parts.norm
    offset = found.spoken.sentence.start
    seen = [one for one in found.seen if not (found.rule.durable and one.entry.kind == "passing")]
    signals = list(to_signals(seen, norm, offset))
    start, end = found.base + found.match.start(), found.base + found.match.end()
    for wide in found.reading.turn_signals:
        if wide.bears_on(start, end, found.match.group()):
            signals += [s for s in to_signals((wide.seen,), norm, wide.start) if s not in signals]
    signals += extra
    if found.rule.kind == "retraction":
        signals = [one for one in signals if one.kind != "no_memory"]
    if found.rule.durable:
        signals = [one for one in signals if one.kind != "limiting"]
    if found.holds("question") and found.rule.kind != "retraction":  # "who says I like it?" takes back
        signals.append(_whole(found, "question"))
    if found.holds("other_person") and found.rule.person == "user":
        signals.append(_whole(found, "third_party", found.subject.words))
    return tuple(signals)


def _whole(found: Found, kind: Any, value: str | None = None) -> Signal:
    start, end = found.reading.parts.norm.span(found.clause.start, found.clause.end)
    return Signal(kind=kind, text=found.prepared.text[start:end], start=start, end=end, value=value)


def _certainty(signals: Sequence[Signal]) -> str:
    kinds = {signal.kind for signal in signals}
    if "hedge" in kinds:
        return "uncertain"
    return "reported" if "reported" in kinds else "certain"
