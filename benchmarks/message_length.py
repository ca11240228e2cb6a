"""How the cost of one message grows with its length, for many kinds of text.

For each kind a text of 10^3 to 10^6 code points passes one stage after the other: `normalise`,
`secrets` (find and mask), `segment`, `tokens`, `gate` (the whole offline gate on the masked text) and
`ingest` (all of it into a store in memory). What counts is CPU time, the best of some rounds. `growth` is the
exponent between the last two lengths: 1 is linear, 2 is quadratic.

    python benchmarks/message_length.py [--longest 1000000] [--rounds 3] [--kind NAME] [--stage NAME] [--json]

A stage that takes longer than `--patience` seconds for a text is not tried with a longer one of its kind.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from memstrata import Memstrata, Turn
from memstrata.bootstrap import offline_gate
from memstrata.domain.ports import Prepared
from memstrata.domain.turn import TurnContext
from memstrata.pipeline.secrets import find_secrets, mask
from memstrata.pipeline.segment import segment
from memstrata.pipeline.text import normalise, tokens

MOMENT = datetime(2026, 10, 8, 9, tzinfo=UTC)

KINDS: Mapping[str, str] = {
    "prose zh": "昨天下班以后我去河边走了走，风有点大，不过晚霞很好看。回来的路上买了两个橘子。",
    "prose en": "After work I walked along the river, it was windy but lovely. I bought two oranges. ",
    "facts zh": "我住在泉州，喜欢吃海蛎煎，不喜欢香菜。以后写周报都先写结论。",
    "facts en": "I live in Leeds, I like rye bread and I don't like kale. Always answer briefly. ",
    "secrets": "密码是 kR7-pass-04，my pin is 4471, 手机号 13900002222，token=abcDEF123456ghiJKL ",
    "labels": "密码密码 password pin code ",
    "digits": "1234567890",
    "numbers": "12 345 6789, 2026-10-08 10:30; ",
    "one word": "a",
    "one hanzi": "我",
    "blanks": " ",
    "lines": "\n",
    "commas": ",",
    "stops": "a. ",
    "quotes": "“我",
    "unclosed 「": "「",
    "unclosed 【": "【我",
    "brackets": "[{(【",
    "json": '{"a": [1, 2]}\n',
    "fences": "```\n",
    "addresses": "a@b.example https://a.example/b?c=d ",
    "marks": "e\u0301\u0323",
    "marks only": "\u0301\u0315",
    "jamo": "\u1112\u1161\u11ab",
    "full width": "Ｐｙ１２，",
    "ligatures": "ﬁ㎏①ﷺ",
    "emoji": "👩‍👩‍👧🇨🇳👍🏽",
    "right to left": "שלום \u202eمرحبا\u202c ",
    "times": "明天下午三点到下周五，next Monday until March 3rd ",
    "translate": "翻译 translate this ",
    "log lines": "2026-10-08 10:00:00 INFO ok\n> a\n",
    "role play": "角色扮演 pretend you are ",
    "signals": "以后都请不要再好像只可能每次哈哈 always maybe only never just ",
}


@dataclass(frozen=True)
class Figure:
    """CPU seconds of one stage on one kind of text, by length; `growth` is None where one length ran."""

    kind: str
    stage: str
    seconds: dict[int, float]
    growth: float | None


def of_length(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def prepared(text: str) -> Prepared:
    context = TurnContext(turn_id="a" * 32, session="s", said_at=MOMENT, zone="UTC")
    return Prepared(Turn(user=text, session="s", at=MOMENT), text, context)


def stages() -> Mapping[str, Callable[[str], object]]:
    gate = offline_gate()

    def ingest(text: str) -> None:
        with Memstrata.open("sqlite://") as memory:
            memory.ingest("local/bench", [Turn(user=text, session="s", at=MOMENT)])

    return {
        "normalise": normalise,
        "secrets": lambda text: mask(text, find_secrets(text)),
        "segment": segment.__wrapped__,
        "tokens": tokens,
        "gate": lambda text: gate.analyse(prepared(text)),
        "ingest": ingest,
    }


def cpu(action: Callable[[str], object], text: str, rounds: int) -> float:
    best = math.inf
    for number in range(rounds):
        # Another text of the same kind each time: what is remembered of the last one must not help.
        fresh = text[: len(text) - number]
        started = time.process_time()
        action(fresh)
        best = min(best, time.process_time() - started)
        if best > 1:
            break
    return best


def measure(
    kinds: Sequence[str], chosen: Sequence[str], lengths: Sequence[int], rounds: int, patience: float
) -> Iterator[Figure]:
    actions = stages()
    for action in actions.values():  # compile patterns, load lexicons
        action(KINDS["facts zh"] + KINDS["facts en"] + KINDS["secrets"])
    for kind in kinds:
        for stage in chosen:
            seconds: dict[int, float] = {}
            for length in lengths:
                seconds[length] = cpu(actions[stage], of_length(KINDS[kind], length), rounds)
                if seconds[length] > patience:
                    break
            yield Figure(kind, stage, seconds, growth(seconds))


def growth(seconds: Mapping[int, float]) -> float | None:
    if len(seconds) < 2:
        return None
    (short, first), (long, second) = list(seconds.items())[-2:]
    return round(math.log(max(second, 1e-9) / max(first, 1e-9)) / math.log(long / short), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU time of one message by its length.")
    parser.add_argument("--longest", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=5.0)
    parser.add_argument("--kind", action="append", choices=sorted(KINDS))
    parser.add_argument("--stage", action="append", choices=sorted(stages()))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lengths = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= options.longest]
    chosen = options.stage or list(stages())
    figures = measure(options.kind or list(KINDS), chosen, lengths, options.rounds, options.patience)
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures]))
        return
    print(f"{'kind':<14} {'stage':<10}" + "".join(f"{n:>12,}" for n in lengths) + "   growth")
    for figure in figures:
        cells = "".join(f"{figure.seconds.get(n, math.nan) * 1000:>10.1f}ms" for n in lengths)
        print(f"{figure.kind:<14} {figure.stage:<10}{cells}   {figure.growth}", flush=True)


if __name__ == "__main__":
    main()
