"""What ``-o`` prints, as text."""

import io

import pytest

from schedctl.explain.explanations import explain, report
from schedctl.render import outputs
from schedctl.render.terminals import PLAIN
from schedctl.scheduler import Scheduler


@pytest.fixture
def show():
    """Return what ``-o`` prints of the explanations of these pods, for a terminal."""

    def show(state, *pods, output="", terminal=PLAIN, limit=0, **options):
        scheduler = Scheduler(state)
        document = report([explain(scheduler, each, **options) for each in pods])
        stream = io.StringIO()
        outputs.write(document, outputs.parse(output), stream, terminal, limit=limit)
        return stream.getvalue()

    return show
