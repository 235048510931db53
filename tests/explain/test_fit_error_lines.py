"""Two lines of kube-scheduler side by side: what they count, what is only worded otherwise, and what a cut leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.explain.fit_error_lines import (
    CUT,
    LONGEST,
    DifferenceKind,
    FitErrorDifference,
    agree,
    differences,
    is_cut,
    parse,
    plugin_of,
)
from schedctl.framework.statuses import none_available

FIT, TAINTS = "NodeResourcesFit", "TaintToleration"
OURS = (
    "0/9 nodes are available: 2 node(s) had untolerated taint(s), 3 Too many pods, 4 Insufficient cpu."
    " preemption: 0/9 nodes are available: 2 Preemption is not helpful for scheduling, 7 No preemption victims found"
    " for incoming pod."
)


def cut(line: str) -> str:
    """A line as an event carries it: kube-scheduler cuts bytes, the API server mends each broken one."""
    data = line.encode()
    if len(data) <= LONGEST:
        return line
    kept, text = data[: LONGEST - len(CUT)], ""
    while kept:
        try:
            return text + kept.decode() + CUT
        except UnicodeDecodeError as broken:
            text += kept[: broken.start].decode() + "\ufffd"
            kept = kept[broken.start + 1 :]
    return text + CUT


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        pytest.param(OURS, [], id="the same"),
        pytest.param(
            OURS.replace("0/9", "0/8"), [FitErrorDifference(DifferenceKind.NODES, theirs=8, ours=9)], id="fewer nodes"
        ),
        pytest.param(
            OURS.replace("4 Insufficient cpu", "3 Insufficient cpu"),
            [FitErrorDifference(DifferenceKind.COUNT, "Insufficient cpu", FIT, 3, 4)],
            id="another count",
        ),
        pytest.param(
            OURS.replace("3 Too many pods, ", ""),
            [FitErrorDifference(DifferenceKind.GAINED, "Too many pods", FIT, 0, 3)],
            id="gained",
        ),
        pytest.param(
            OURS.replace("available: 2 n", "available: 1 Insufficient example.com/gpu, 2 n"),
            [FitErrorDifference(DifferenceKind.LOST, "Insufficient example.com/gpu", FIT, 1, 0)],
            id="lost",
        ),
        pytest.param(
            OURS.replace(
                "2 node(s) had untolerated taint(s)",
                "1 node(s) had untolerated taint {a.b/c: d}, 1 node(s) had untolerated taint {e: }",
            ),
            [],
            id="taints one by one, as others word them",
        ),
        pytest.param(
            OURS.replace(
                "2 node(s) had untolerated taint(s)", "2 node(s) had taint {a: b}, that the pod didn't tolerate"
            ),
            [],
            id="a comma inside a reason",
        ),
        pytest.param(f"{OURS}.", [], id="two full stops, as others write them"),
        pytest.param(
            OURS.partition(" preemption")[0],
            [FitErrorDifference(DifferenceKind.PREEMPTION, "", "DefaultPreemption", "", OURS.partition("cpu. ")[2])],
            id="preemption was not tried",
        ),
        pytest.param(
            OURS.replace("7 No preemption victims found for incoming pod", "7 Insufficient cpu"),
            [
                FitErrorDifference(
                    DifferenceKind.PREEMPTION,
                    "",
                    "DefaultPreemption",
                    OURS.partition("cpu. ")[2].replace(
                        "7 No preemption victims found for incoming pod", "7 Insufficient cpu"
                    ),
                    OURS.partition("cpu. ")[2],
                )
            ],
            id="preemption only",
        ),
        pytest.param(
            '0/9 nodes are available: persistentvolumeclaim "data" not found. ' + OURS.partition("cpu. ")[2],
            [
                FitErrorDifference(
                    DifferenceKind.TEXT,
                    "",
                    "VolumeRestrictions",
                    'persistentvolumeclaim "data" not found',
                    "2 node(s) had untolerated taint(s), 3 Too many pods, 4 Insufficient cpu",
                )
            ],
            id="the pod as a whole was refused",
        ),
    ],
)
def test_what_two_lines_differ_in(theirs, expected):
    assert differences(theirs, OURS) == expected


@pytest.mark.parametrize(
    ("reason", "plugin"),
    [
        ("Insufficient cpu", FIT),
        ("node(s) had untolerated taint(s)", TAINTS),
        ("node(s) didn't satisfy plugin NodeAffinity", "NodeAffinity"),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding]", "NodeAffinity, VolumeBinding"),
        ('persistentvolumeclaim "data" bound to non-existent persistentvolume "x"', "VolumeBinding"),
        ("disks.example.com CSI driver is not installed on the node", "NodeVolumeLimits"),
        ("the moon is full", ""),
    ],
)
def test_whose_a_reason_is(reason, plugin):
    assert plugin_of(reason) == plugin


LONG = none_available(5000, {f"Insufficient example.com/{'x' * 40}-{i:02}": 100 + i for i in range(20)})


@pytest.mark.parametrize(
    ("end", "what"),
    [
        ("1", "a number"),
        ("12", "the whole of a number"),
        ("12 Insufficient exam", "a reason"),
        ("12 Insufficient example.com/big,", "what stands between reasons"),
        ("12 Insufficient example.com/grö", "a character of two bytes"),
        ("12 Insufficient example.com/big. preem", "the word preemption"),
        ("12 Insufficient example.com/big. preemption: 0/50", "the size of the cluster"),
        ("12 Insufficient example.com/big. preemption: 0/5000 nodes are available: 4", "the first count"),
    ],
)
def test_a_line_that_was_cut_in_the_middle_of(end, what):
    head = "0/5000 nodes are available: 11 Insufficient example.com/"
    room = LONGEST - len(CUT) - len(head) - len(end.encode()) - 2
    broken = end.endswith("ö")  # its second byte is one too many
    name = "x" * (room + broken)
    full = f"{head}{name}, {end}{'9 and so on' if end[-1].isdigit() else 'and so on'}{'.' * 100}"
    theirs = cut(full)
    assert is_cut(theirs)
    assert ("\ufffd" in theirs) == broken
    assert agree(theirs, full)
    assert differences(theirs, full) == []
    assert differences(theirs, full.replace("11 Insufficient", "10 Insufficient", 1))[0] == FitErrorDifference(
        DifferenceKind.COUNT, f"Insufficient example.com/{name}", FIT, 11, 10
    )


def test_a_short_line_that_ends_in_dots_is_whole():
    assert not is_cut("waiting for the volume controller ...")
    assert parse("waiting for the volume controller ...").cut is False


reasons = st.dictionaries(
    st.sampled_from(
        [f"Insufficient example.com/{name}{'é' * (i % 60)}" for i, name in enumerate("abcdefghijklmnopqrstuvwxyz" * 2)]
        + ["node(s) had untolerated taint(s)", "Too many pods", "node(s) had no available volume zone"]
    ),
    st.integers(1, 5000),
    min_size=1,
)
afters = st.one_of(
    st.just(""),
    st.just("preemption: not eligible due to preemptionPolicy=Never."),
    reasons.map(lambda counts: f"preemption: {none_available(5000, counts)}"),
)
lines = st.builds(lambda counts, after: f"{none_available(5000, counts)} {after}".strip(), reasons, afters)


@given(lines)
def test_a_line_agrees_with_what_an_event_carries_of_it(line):
    assert agree(cut(line), line)
    assert differences(cut(line), line) == []


@given(reasons, afters)
def test_taking_apart_is_the_inverse_of_putting_together(counts, after):
    line = parse(f"{none_available(5000, counts)} {after}".strip())
    assert (line.nodes, line.counts, line.after) == (5000, counts, after)


@given(lines, lines)
def test_whoever_does_not_agree_with_a_whole_line_differs_in_something(theirs, ours):
    assert bool(differences(theirs, ours)) == (theirs != ours)


@given(lines, lines)
def test_of_a_cut_line_no_count_is_said_to_differ_that_does_not(theirs, ours):
    counted = {each for each in differences(theirs, ours) if each.reason}
    assert {each for each in differences(cut(theirs), ours) if each.reason} <= counted
