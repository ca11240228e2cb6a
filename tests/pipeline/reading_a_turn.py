"""A prepared turn for the tests of the pipeline."""

from collections.abc import Sequence
from datetime import datetime

from memstrata.domain.ports import Prepared
from memstrata.domain.turn import Turn, TurnContext

NOW = datetime.fromisoformat("2026-03-02T10:00:00+08:00")


def prepared(
    text: str,
    *,
    task: str | None = None,
    task_id: str | None = None,
    project: str | None = None,
    history: Sequence[str] = (),
    known: Sequence[str] = (),
    now: datetime = NOW,
    assistant: str | None = "ok",
) -> Prepared:
    context = TurnContext(
        turn_id="a" * 32,
        session="s",
        said_at=now,
        zone="Asia/Shanghai",
        task=task,
        task_id=task_id,
        project=project,
    )
    turn = Turn(user=text, assistant=assistant, session="s", task=task, task_id=task_id, project=project)
    former = tuple((f"{place:032x}", said) for place, said in enumerate(history))
    return Prepared(turn=turn, text=text, context=context, history=former, known=tuple(known))
