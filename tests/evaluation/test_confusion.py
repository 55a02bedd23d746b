"""Edit scripts and the confusions counted from them."""

from hypothesis import given
from hypothesis import strategies as st

from namer_edge.evaluation.confusion import Confusion, Edit, confusions, edit_script
from namer_edge.evaluation.exprate import Prediction, distance

TOKENS = st.lists(st.sampled_from(["x", "y", "2", "+"]), max_size=9)


@given(TOKENS, TOKENS)
def test_a_script_has_as_many_edits_as_the_distance_and_leads_to_the_answer(
    label: list[str], read: list[str]
) -> None:
    edits = edit_script(label, read)
    assert len(edits) == distance(label, read)
    rebuilt = list(label)
    for edit in reversed(edits):
        if edit.kind == "insertion":
            rebuilt.insert(edit.place, edit.read)
        else:
            assert rebuilt[edit.place] == edit.label
            rebuilt[edit.place : edit.place + 1] = [edit.read] if edit.read else []
    assert rebuilt == read


def test_edits_of_a_hand_made_pair() -> None:
    assert edit_script(["a", "\\times", "b", "1"], ["a", "x", "1", "1"]) == [
        Edit("substitution", "\\times", "x", 1),
        Edit("substitution", "b", "1", 2),
    ]
    assert edit_script(["x", "2"], ["2", "!"]) == [
        Edit("substitution", "x", "2", 0),
        Edit("substitution", "2", "!", 1),
    ]
    assert edit_script(["x", "y", "z"], ["x", "z"]) == [Edit("deletion", "y", "", 1)]
    assert edit_script(["x", "z"], ["x", "y", "z"]) == [Edit("insertion", "", "y", 1)]


def test_confusions_are_counted_by_occurrence_and_by_file() -> None:
    readings = [
        Prediction("a", tuple("z+z"), tuple("2+2")),
        Prediction("b", tuple("z1"), tuple("21")),
        Prediction("c", ("x", "^", "{", "n", "}"), ("x", "n")),
        Prediction("d", ("x",), None, "unreadable"),
        Prediction("e", ("x",), ("x",)),
    ]
    assert confusions(readings) == [
        Confusion("substitution", "z", "2", count=3, files=2),
        Confusion("deletion", "^", "", count=1, files=1),
    ]
    assert len(confusions(readings, top=1)) == 1
