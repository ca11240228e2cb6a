"""Trains the second opinion of the write gate on the labelled clauses, and says how good it is.

    pip install -e '.[train]'
    python training/train.py            # cross-validation, then the model files are written
    python training/train.py --check    # cross-validation only

Folds go by file, so that a voice is judged that was not trained on. The same clauses give the same files.
"""

import argparse
import hashlib
import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from memstrata.domain.ports import Prepared
from memstrata.domain.turn import Turn, TurnContext
from memstrata.pipeline.extract.reading import Reading
from memstrata.pipeline.opinion.features import features_of
from memstrata.pipeline.opinion.model import QUESTIONS
from memstrata.pipeline.opinion.piece import Piece
from memstrata.pipeline.signals import find_signals, kinds_of

HERE = Path(__file__).parent
TARGET = HERE.parent / "pipeline" / "opinion"
ALLOWED = {
    "says": [
        *("fact", "preference", "boundary", "goal", "constraint", "retraction", "correction"),
        *("order", "feeling", "event", "ask", "chat"),
    ],
    "mood": ["statement", "question", "request", "hypothetical", "joke", "hedge"],
    "about": ["user", "household", "project", "other", "quoted", "world"],
    "lasting": ["standing", "dated", "task", "passing", "none"],
    "attribute": [
        *(
            "city",
            "hometown",
            "job_title",
            "employer",
            "salary",
            "experience",
            "education",
            "birthday",
            "age",
        ),
        *("body", "name", "address_form", "gender", "partner", "child", "pet", "family_member", "allergy"),
        *("diet", "health", "taste", "hobby", "skill", "language", "device", "tool", "schedule", "plan"),
        *("job_search", "study", "money", "housing", "vehicle", "belief", "answer_length", "answer_style"),
        *("answer_language", "answer_format", "topic_boundary", "contact_boundary", "relationship"),
        *("writing_style", "coding_style", "travel_style", "project_fact", "constraint", "note", "-"),
    ],
}
KEPT = {
    "fact": {"user", "household", "project"},
    "preference": {"user", "household", "project"},
    "boundary": {"user", "household", "project"},
    "goal": {"user", "household", "project"},
    "constraint": {"user", "household", "project"},
    "retraction": {"user", "household", "project"},
    "correction": {"user", "household", "project"},
}
"""By what a clause says, of whom it has to be to be worth keeping (training/README.md)."""

LEAST = 2
"""Clauses in which a feature must stand to get a weight."""

STRENGTH = {"keep": 0.3, "says": 0.3, "mood": 0.3, "about": 0.3, "lasting": 0.3, "attribute": 1.0}
"""Inverse of the regularisation, chosen by cross-validation among 0.1, 0.3 and 1."""

FOLDS = 5


@dataclass(frozen=True)
class Row:
    text: str
    group: str
    labels: dict[str, str]
    features: list[str]

    @property
    def language(self) -> str:
        return self.group.partition("-")[0]


def kept(labels: dict[str, str]) -> bool:
    return (
        labels["mood"] in ("statement", "request")
        and labels["about"] in KEPT.get(labels["says"], ())
        and labels["lasting"] in ("standing", "dated", "task")
    )


def clauses(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.tsv"))


def read_rows(folder: Path) -> list[Row]:
    rows, seen = [], set()
    for path in clauses(folder):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            text, *values = line.split("\t")
            # What a clause is about may not be said yet.
            labels = dict(zip(ALLOWED, [*values, "-"][: len(ALLOWED)], strict=True))
            wrong = {name: value for name, value in labels.items() if value not in ALLOWED[name]}
            if wrong:
                raise SystemExit(f"{path.name}:{number}: unknown labels {wrong}")
            if text in seen:
                continue
            seen.add(text)
            labels["keep"] = "yes" if kept(labels) else "no"
            rows.append(Row(text, path.stem, labels, features(text)))
    return rows


def features(text: str) -> list[str]:
    """As the reviewer of the gate takes them of a sentence; of what is only shown, by its words alone."""
    context = TurnContext(
        turn_id="0" * 32, session="training", said_at=datetime(2026, 1, 5, tzinfo=UTC), zone="UTC"
    )
    reading = Reading(Prepared(Turn(user=text, session="training"), text, context))
    said = reading.parts.norm.text.strip()
    if not reading.spoken:
        return features_of(said, kinds_of(find_signals(said)))
    first, last = reading.spoken[0], reading.spoken[-1]
    if first is last:
        return Piece(first, first.sentence.start, first.sentence.end, first.sentence.text).features
    pieces = [Piece(one, one.sentence.start, one.sentence.end, one.sentence.text) for one in reading.spoken]
    marks = {mark for piece in pieces for mark in piece.marks}
    return features_of(said, frozenset(marks))


def rarity(x: csr_matrix) -> np.ndarray:
    """How much a feature tells by being rare; the weights that are kept hold it already."""
    standing = np.asarray((x > 0).sum(axis=0)).ravel()
    return np.log((1 + x.shape[0]) / (1 + standing))


def matrix(rows: Sequence[Row], places: dict[str, int]) -> csr_matrix:
    indices, data, starts = [], [], [0]
    for row in rows:
        known = [places[one] for one in row.features if one in places]
        indices += known
        data += [1 / math.sqrt(len(known) or 1)] * len(known)
        starts.append(len(indices))
    return csr_matrix((data, indices, starts), shape=(len(rows), len(places)))


def places_of(rows: Sequence[Row]) -> dict[str, int]:
    count = Counter(one for row in rows for one in row.features)
    return {one: place for place, one in enumerate(sorted(f for f, n in count.items() if n >= LEAST))}


def fitted(rows: Sequence[Row], x: csr_matrix, question: str) -> dict[str, tuple[np.ndarray, float]]:
    """Weights and bias of each answer; of the question with two answers only of the first."""
    if question == "attribute":  # of what is worth keeping only
        labelled = [place for place, row in enumerate(rows) if row.labels["attribute"] != "-"]
        rows, x = [rows[place] for place in labelled], x[labelled]
    rare = rarity(x)
    scaled = x @ diags(rare)
    wanted = ["yes"] if question == "keep" else [one for one in ALLOWED[question] if one != "-"]
    answers = {}
    for answer in wanted:
        y = np.array([row.labels[question] == answer for row in rows], dtype=int)
        if y.min() == y.max():  # an answer that no clause has
            answers[answer] = (np.zeros(x.shape[1]), 9.0 if y.min() else -9.0)
            continue
        model = LogisticRegression(C=STRENGTH[question], solver="liblinear", random_state=0, max_iter=300)
        model.fit(scaled, y)
        answers[answer] = (model.coef_[0] * rare, float(model.intercept_[0]))
    return answers


def cross_validated(rows: list[Row]) -> dict[str, np.ndarray]:
    """Out-of-fold scores: of each question one row for each clause, one column for each answer."""
    groups = [row.group for row in rows]
    scores: dict[str, np.ndarray] = {}
    for train, test in GroupKFold(FOLDS).split(rows, groups=groups):
        some = [rows[i] for i in train]
        places = places_of(some)
        x, z = matrix(some, places), matrix([rows[i] for i in test], places)
        for question in QUESTIONS:
            answers = fitted(some, x, question)
            found = np.stack([z @ w + b for w, b in answers.values()], axis=1)
            scores.setdefault(question, np.zeros((len(rows), found.shape[1])))[test] = found
    return scores


def report(rows: list[Row], scores: dict[str, np.ndarray]) -> None:
    truth = np.array([row.labels["keep"] == "yes" for row in rows])
    p = 1 / (1 + np.exp(-scores["keep"][:, 0]))
    print(f"{len(rows)} clauses, {truth.sum()} worth keeping; folds by file")
    for limit in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        said = p >= limit
        print(
            f"keep >= {limit}: precision {truth[said].mean():.3f}  recall {said[truth].mean():.3f}  "
            f"false of what is not to be kept {said[~truth].mean():.3f}"
        )
    for question in QUESTIONS[1:]:
        names = [one for one in ALLOWED[question] if one != "-"]
        best = scores[question].argmax(axis=1)
        right = np.array([names[b] == row.labels[question] for b, row in zip(best, rows, strict=True)])
        print(f"{question}: {right.mean():.3f} right, of what is worth keeping {right[truth].mean():.3f}")
    by = defaultdict(list)
    for row, good in zip(rows, (p >= 0.5) == truth, strict=True):
        by[row.language].append(good)
        by[f"says {row.labels['says']}"].append(good)
        by[f"mood {row.labels['mood']}"].append(good)
        by[f"about {row.labels['about']}"].append(good)
    for name, found in sorted(by.items()):
        print(f"  {name:20} {len(found):5} {np.mean(found):.3f}")


def _scale(weights: np.ndarray) -> float:
    """What one step of a rounded weight is worth."""
    return float(np.abs(weights).max() or 1.0) / 127


def write(rows: list[Row], digest: str, threshold: dict[str, float]) -> None:
    places = places_of(rows)
    x = matrix(rows, places)
    answers = {question: fitted(rows, x, question) for question in QUESTIONS}
    weights = [w for found in answers.values() for w, _ in found.values()]
    rounded = [np.rint(w / _scale(w)).astype(np.int8) for w in weights]
    useful = np.any(np.stack(rounded) != 0, axis=0)
    names = [one for one, place in places.items() if useful[place]]
    about: dict[str, object] = {"name": f"opinion/{digest[:8]}", "threshold": threshold, "answers": {}}
    kept_weights = array("b")
    at = 0
    for question, found in answers.items():
        listed = []
        for name, (w, bias) in found.items():
            listed.append({"name": name, "bias": round(bias, 6), "scale": float(_scale(w))})
            kept_weights.frombytes(rounded[at][useful].tobytes())
            at += 1
        about["answers"][question] = listed  # type: ignore[index]
    TARGET.joinpath("model.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    TARGET.joinpath("features.txt").write_text("\n".join(names), "utf-8")
    TARGET.joinpath("weights.bin").write_bytes(kept_weights.tobytes())
    print(f"{len(names)} features, {len(kept_weights) / 1e6:.1f} MB of weights")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="cross-validate and write nothing")
    parser.add_argument("--alone", type=float, default=0.75, help="see `Threshold` in the reviewer")
    parser.add_argument("--beside", type=float, default=0.9)
    options = parser.parse_args()
    rows = read_rows(HERE / "clauses")
    report(rows, cross_validated(rows))
    if not options.check:
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in clauses(HERE / "clauses"))).hexdigest()
        write(rows, digest, {"alone": options.alone, "beside": options.beside})


if __name__ == "__main__":
    main()
