"""Histories in which the views once were not what the events mean, cut to what mattered."""

from __future__ import annotations

from pathlib import Path

from .world import World


def play(folder: Path, *deeds: tuple[object, ...]) -> World:
    """Carry the deeds out, each compared with the oracle, and ask what holds after every history."""
    world = World(folder)
    for name, *arguments in deeds:
        world.do(str(name), *arguments)
    world.end()
    return world


def standing(world: World) -> list[str | None]:
    """The values of what stands for the first owner."""
    memories = world.stories["acme/lin"].memories.values()
    return [memory.current.statement.value for memory in memories if memory.current is not None]


def test_a_correction_of_an_undone_version_stands_in_its_place(tmp_path: Path) -> None:
    play(
        tmp_path,
        ("say", 0, ("late", "Osaka", 6, 3), 0, 1, None),
        ("say both", 0, ("city", "Osaka", "assert"), ("planned", "Leeds", 5), 1, 0, 1),
        ("say", 0, ("correct then", "Osaka", 4), 1, 1, 1),
        ("say", 0, ("take back",), 1, 1, None),
        ("revise", 0, 17, ("only", "soup"), 1),
    )


def test_what_came_back_before_a_planned_value_holds_until_that_begins(tmp_path: Path) -> None:
    play(
        tmp_path,
        ("bring", 0, "city", "Osaka"),
        ("say both", 0, ("city", "Osaka", "change"), ("instead", "soup", "rice"), 0, 2, None),
        ("say", 0, ("planned", "Leeds", 8), 1, 2, 1),
        ("undo", 0, 25),
    )


def test_what_a_person_confirms_supersedes_what_stands_in_its_slot(tmp_path: Path) -> None:
    play(
        tmp_path,
        ("say", 1, ("unsure", "Leeds"), 0, 2, None),
        ("roll back", 1, "turn", 14, 17),
        ("say", 1, ("city", "Osaka", "assert"), 0, 1, 0),
        ("undo", 1, 11),
        ("person", 1, "confirm", 33),
    )


def test_a_rejected_hint_that_was_undone_is_rebuilt_as_it_was(tmp_path: Path) -> None:
    play(
        tmp_path,
        ("say", 0, ("habit", "tables first"), 2, 1, None),
        ("person", 0, "reject", 19),
        ("roll back", 0, "channel", 28, 4),
    )


def test_a_correction_of_what_is_retracted_again_is_decided_anew(tmp_path: Path) -> None:
    world = play(
        tmp_path,
        ("say", 0, ("city", "Turin", "assert"), 2, 2, 2),
        ("say", 0, ("drop", "city", "Turin", "retract"), 0, 2, 2),
        ("roll back", 0, "turn", 1, 0),
        ("say", 0, ("city", "Osaka", "correct"), 0, 1, 0),
        ("undo", 0, 0),
    )

    assert standing(world) == ["Osaka"]


def test_what_was_imported_twice_stands_when_one_import_is_undone(tmp_path: Path) -> None:
    world = play(tmp_path, ("bring", 0, "taste", "noodles"), ("bring", 0, "taste", "noodles"), ("undo", 0, 0))

    assert standing(world) == ["noodles"]


def test_a_value_that_moves_into_the_slot_of_one_whose_date_is_past_supersedes_it(tmp_path: Path) -> None:
    world = play(
        tmp_path,
        ("say", 0, ("liked until", "soup", 3), 0, 1, 0),
        ("task", 0, "finish", 2),
        ("say", 0, ("taste", "rice", "negative"), 0, 0, 1),
        ("say", 0, ("instead", "soup", "rice"), 1, 1, 2),
        ("say", 0, ("taste", "soup", "positive"), 1, 1, 2),
    )

    assert standing(world) == ["soup"]


def test_a_correction_of_what_was_only_supposed_to_stand_is_not_written(tmp_path: Path) -> None:
    """It named a version that never came to be; so did what it was based on."""
    world = play(
        tmp_path,
        ("bring", 0, "city", "Osaka"),
        ("job", 0, "reweigh", 19),
        ("say", 0, ("late", "Leeds", 5, 2), 1, 2, 1),
        ("say", 0, ("city", "Turin", "assert"), 0, 1, 0),
        ("say", 0, ("planned", "Leeds", 5), 1, 0, None),
        ("say", 0, ("take back",), 1, 1, 1),
        ("say", 0, ("drop", "city", "Osaka", "retract"), 0, 0, 1),
        ("roll back", 0, "channel", 3, 33),
    )

    assert standing(world) == []


def test_a_habit_that_lost_a_sighting_stands_by_another_decision_only(tmp_path: Path) -> None:
    """An undo took one of three sightings back, and the two that were left carried it on."""
    play(
        tmp_path,
        ("say", 0, ("liked until", "rice", 9), 0, 2, None),
        ("say", 0, ("always", "results"), 2, 0, None),
        ("task", 0, "finish", 1),
        ("say", 0, ("habit", "short reports"), 2, 0, 0),
        ("say", 0, ("habit", "short reports"), 2, 1, 1),
        ("say", 0, ("rumour", "Turin"), 0, 2, 1),
        ("say", 0, ("salary", "20-25k"), 0, 0, 1),
        ("roll back", 0, "memory", 3, 31),
        ("say", 0, ("taste", "rice", "negative"), 2, 1, None),
        ("revise", 0, 22, ("dated", "Osaka", 5), 0),
        ("task", 0, "finish", 2),
        ("say", 0, ("habit", "short reports"), 0, 0, 2),
        ("say", 0, ("habit", "short reports"), 2, 1, None),
        ("say", 0, ("dated", "Turin", 1), 2, 2, 0),
        ("roll back", 0, "session", 23, 21),
        ("roll back", 0, "extractor", 16, 19),
        ("revise", 0, 18, ("habit", "short reports"), 2),
        ("roll back", 0, "turn", 40, 35),
        ("say", 0, ("rumour", "Turin"), 2, 2, 2),
        ("say", 0, ("rumour", "Osaka"), 1, 1, 1),
        ("say", 0, ("more", "blockers", "results"), 0, 1, 0),
        ("revise", 0, 36, ("liked until", "soup", 6), 0),
        ("roll back", 0, "session", 19, 12),
        ("revise", 0, 31, ("habit", "short reports"), 2),
        ("undo", 0, 37),
    )


def test_what_was_taken_back_leaves_its_place_to_what_was_said_since(tmp_path: Path) -> None:
    world = play(
        tmp_path,
        ("say", 0, ("taste", "rice", "positive"), 0, 0, 0),
        ("say", 0, ("instead", "soup", "rice"), 1, 1, None),
        ("say", 0, ("liked until", "rice", 2), 0, 1, None),
        ("say", 0, ("take back",), 1, 2, 2),
    )
    assert standing(world) == ["rice"]


def test_a_habit_counted_anew_falls_with_the_turn_on_which_it_was_seen_last(tmp_path: Path) -> None:
    play(
        tmp_path,
        ("say", 0, ("liked until", "noodles", 8), 0, 0, None),
        ("bring", 0, "city", "Leeds"),
        ("revise", 0, 25, ("take back",), 0),
        ("say", 0, ("city", "Leeds", "assert"), 0, 0, None),
        ("undo", 0, 0),
        ("undo", 0, 22),
        ("say", 0, ("city", "Leeds", "assert"), 0, 0, None),
        ("say", 0, ("habit", "short reports"), 0, 0, 0),
        ("undo", 0, 34),
        ("bring", 0, "city", "Leeds"),
        ("revise", 0, 0, ("habit", "short reports"), 0),
        ("revise", 0, 29, ("city", "Turin", "assert"), 1),
        ("revise", 0, 35, ("late", "Leeds", 10, 4), 1),
        ("say both", 0, ("habit", "tables first"), ("unsure", "Leeds"), 2, 2, 2),
        ("say both", 0, ("once", "risks"), ("report", "risks"), 1, 2, None),
        ("revise", 0, 17, ("guess", "Leeds"), 0),
        ("revise", 0, 34, ("tip", "noodles"), 2),
        ("say", 0, ("dated", "Osaka", 7), 1, 2, None),
        ("say", 0, ("habit", "short reports"), 1, 1, None),
        ("undo", 0, 33),
        ("revise", 0, 31, ("report", "results"), 1),
    )


def test_what_repeated_a_fact_says_it_once_its_end_is_undone(tmp_path: Path) -> None:
    play(
        tmp_path,
        ("say", 0, ("salary", "15-20k"), 1, 0, 0),
        ("say both", 0, ("once", "blockers"), ("salary", "15-20k"), 1, 0, None),
        ("crash", "interrupt", 110, "say", 0, ("only", "noodles"), 0, 0, None),
        ("say", 0, ("take back",), 1, 0, 0),
        ("say", 0, ("take back",), 1, 0, 0),
        ("say", 0, ("report", "blockers"), 0, 0, None),
        ("say", 0, ("guess", "Leeds"), 0, 0, None),
        ("revise", 0, 0, ("city", "Leeds", "assert"), 0),
        ("say both", 0, ("city", "Leeds", "assert"), ("city", "Leeds", "assert"), 0, 0, None),
        ("revise", 0, 20, ("city", "Leeds", "assert"), 0),
    )
