"""A pod that comes back hears of all that has happened since it set out, and nobody is asked twice for a group."""

import random

import pytest

from schedctl.engine.queue.hints import Strategy
from schedctl.engine.queue.in_flight import InFlight
from schedctl.framework.events import NODE_ADD, TARGET_POD_UPDATE

SKIP, AFTER_BACKOFF, IMMEDIATELY = Strategy


class Story:
    """Pods set out, things happen, pods are asked about and land; all of it is written down in full as well."""

    def __init__(self):
        self.in_flight = InFlight()
        self.happened = []
        self.since = {}
        self.asked = []

    def begin(self, uid):
        self.in_flight.begin(uid)
        self.since[uid] = len(self.happened)

    def happen(self, event, meaning):
        """Meaning: by group, or by pod where it is about each."""
        self.in_flight.note(event, None, len(self.happened))
        self.happened.append((event, meaning))

    def ask(self, uid, group, enough=AFTER_BACKOFF):
        def meaning(occurrence):
            event, means = self.happened[occurrence.after]
            who = uid if event is TARGET_POD_UPDATE else group
            self.asked.append((who, occurrence.after))
            return means.get(who, SKIP)

        return self.in_flight.strategy(uid, group, meaning, enough)

    def expected(self, uid, group):
        since = self.happened[self.since[uid] :]
        return max((m.get(uid if e is TARGET_POD_UPDATE else group, SKIP) for e, m in since), default=SKIP)

    def land(self, uid):
        self.in_flight.land(uid)
        del self.since[uid]


def test_a_pod_hears_of_what_happened_after_it_set_out_and_of_nothing_before():
    story = Story()
    story.begin("early")
    story.happen(NODE_ADD, {"web": AFTER_BACKOFF})
    story.begin("late")
    assert story.ask("early", "web") is AFTER_BACKOFF
    assert story.ask("late", "web") is SKIP
    assert story.in_flight.has_missed("early")
    assert not story.in_flight.has_missed("late")


def test_what_means_nothing_for_a_group_is_passed_over_and_not_asked_again():
    story = Story()
    for number in range(50):
        story.begin(f"web-{number}")
    for _ in range(50):
        story.happen(NODE_ADD, {})
    for number in range(50):
        assert story.ask(f"web-{number}", "web") is SKIP
    assert len(story.asked) == 50


def test_what_is_about_each_pod_is_asked_of_each():
    story = Story()
    for name in ("a", "b"):
        story.begin(name)
    story.happen(NODE_ADD, {})
    story.happen(TARGET_POD_UPDATE, {"b": AFTER_BACKOFF})
    assert [story.ask(name, "web") for name in ("a", "b", "a")] == [SKIP, AFTER_BACKOFF, SKIP]


def test_once_all_have_landed_nothing_is_kept():
    story = Story()
    story.begin("a")
    story.happen(NODE_ADD, {})
    story.ask("a", "web")
    story.land("a")
    assert not story.in_flight
    assert "a" not in story.in_flight
    story.begin("a")
    assert not story.in_flight.has_missed("a")
    story.happen(NODE_ADD, {"web": AFTER_BACKOFF})
    assert story.ask("a", "web") is AFTER_BACKOFF


@pytest.mark.parametrize("seed", range(40))
def test_any_story_is_told_as_if_all_of_it_were_read_each_time(seed):
    chance, story = random.Random(seed), Story()
    groups = {name: chance.choice(("web", "db")) for name in "abcdef"}
    for _ in range(300):
        name = chance.choice("abcdef")
        step = chance.random()
        if name not in story.since:
            story.begin(name)
        elif step < 0.5:
            few = {key: chance.choice(list(Strategy)) for key in ("web", "db", *"abcdef") if chance.random() < 0.1}
            story.happen(chance.choice((NODE_ADD, TARGET_POD_UPDATE)), few)
        elif step < 0.9:
            assert story.ask(name, groups[name], enough=IMMEDIATELY) is story.expected(name, groups[name])
            asked_first = story.ask(name, groups[name])
            assert bool(asked_first) == bool(story.expected(name, groups[name]))
        else:
            story.land(name)
