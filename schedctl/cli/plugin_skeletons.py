"""``schedctl plugins new``: a plugin that works, with its tests, to be changed into the one that is wanted.

Each extension point has a few lines of code that do something small and useful, and a test of them. The files belong to
whoever asked for them from then on: nothing is ever overwritten.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from schedctl.errors import UsageError

EXAMPLES = """
Examples:
  schedctl plugins new TeamFence
  schedctl plugins new TeamFence --point filter,score
  schedctl plugins new TeamFence --package
"""
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_ON_A_LINE = 4
"""How many base classes are written on one line."""
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Piece(NamedTuple):
    """What one extension point adds.

    Attributes:
        base: the class it inherits.
        imports: what else the plugin imports from `schedctl.framework`.
        body: its methods.
        test: its test.
        testing: what that imports from `schedctl.framework`.
    """

    base: str
    imports: tuple[str, ...]
    body: str
    test: str
    testing: tuple[str, ...] = ("Cycle",)


_PIECES = {
    "preEnqueue": _Piece(
        "PreEnqueuePlugin",
        ("PodInfo", "SUCCESS", "Status", "unschedulable"),
        '''    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Keep pods that are on hold out of the queue."""
        return unschedulable("the pod is on hold") if pod.labels.get("hold") == "true" else SUCCESS
''',
        """@pytest.mark.parametrize(("labels", "enters"), [({}, True), ({"hold": "true"}, False)])
def test_a_pod_on_hold_does_not_enter_the_queue(labels, enters):
    plugin = plugin_on(NAME, cluster())
    assert plugin.pre_enqueue(pod(labels=labels)).successful is enters
""",
        (),
    ),
    "queueSort": _Piece(
        "QueueSortPlugin",
        ("PodInfo",),
        '''    def sort_key(self, pod: PodInfo, arrival: float) -> tuple[int, float]:
        """Put pods of high priority first, and of equal priority the oldest."""
        return -pod.priority, arrival
''',
        """def test_higher_priority_comes_first_and_then_the_earlier_arrival():
    plugin = plugin_on(NAME, cluster())
    high, low = pod("high", priority=10), pod("low", priority=1)
    assert plugin.sort_key(high, 2.0) < plugin.sort_key(low, 1.0) < plugin.sort_key(low, 2.0)
""",
        (),
    ),
    "preFilter": _Piece(
        "PreFilterPlugin",
        ("Cycle", "Nodes", "StateKey"),
        '''    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> None:
        """Compute once what the filter needs for every node."""
        cycle.state[STATE] = cycle.pod.labels.get("team", "")
''',
        """def test_the_team_of_the_pod_is_looked_up_once():
    made = cluster(node("a"))
    cycle = Cycle(pod(labels={"team": "red"}))
    plugin_on(NAME, made).pre_filter(cycle, made.nodes)
    assert cycle.state[STATE] == "red"
""",
    ),
    "filter": _Piece(
        "FilterPlugin",
        ("Cycle", "NodeInfo", "Reason", "Verdict", "per_node"),
        '''    foreign = Reason("node(s) belong to team {team}", unresolvable=True)

    @per_node
    def filter(self, cycle: Cycle, node: NodeInfo) -> Verdict | None:
        """Reject the nodes of other teams; a node without a team accepts every pod."""
        team = node.labels.get("team", "")
        return self.foreign(team=team) if team and team != cycle.pod.labels.get("team") else None
''',
        """@pytest.mark.parametrize(
    ("of_pod", "of_node", "fits"),
    [
        pytest.param({}, {}, True, id="a node without a team accepts every pod"),
        pytest.param({"team": "red"}, {"team": "red"}, True, id="a node accepts the pods of its team"),
        pytest.param({"team": "red"}, {"team": "blue"}, False, id="a node rejects the pods of other teams"),
        pytest.param({}, {"team": "blue"}, False, id="a node of a team rejects pods without a team"),
    ],
)
def test_teams_keep_to_their_nodes(of_pod, of_node, fits):
    scheduler = scheduler_with(NAME, cluster(node("a", labels=of_node)))
    assert scheduler.judge(pod(labels=of_pod)).fits is fits
""",
        (),
    ),
    "postFilter": _Piece(
        "PostFilterPlugin",
        ("CodeColumn", "Cycle", "Nodes", "PostFilterResult", "unschedulable"),
        '''    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Report that no room can be made; `victims` and `nominated_node` would say how."""
        return PostFilterResult(unschedulable("no room can be made"))
''',
        """def test_no_room_is_made():
    made = cluster(node("a"))
    codes = np.full(1, Code.UNSCHEDULABLE, np.int8)
    assert plugin_on(NAME, made).post_filter(Cycle(pod()), made.nodes, codes).status.is_rejected
""",
        ("Code", "Cycle"),
    ),
    "preScore": _Piece(
        "PreScorePlugin",
        ("Cycle", "Nodes", "SKIP", "Status"),
        '''    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Leave pods without a team out of scoring."""
        return None if "team" in cycle.pod.labels else SKIP
''',
        """def test_pods_without_a_team_are_not_scored():
    made = cluster(node("a"))
    plugin = plugin_on(NAME, made)
    assert plugin.pre_score(Cycle(pod(labels={"team": "red"})), made.nodes) is None
    assert plugin.pre_score(Cycle(pod()), made.nodes) is SKIP
""",
        ("Cycle", "SKIP"),
    ),
    "score": _Piece(
        "ScorePlugin",
        ("Cycle", "NodeInfo", "per_node"),
        '''    @per_node
    def score(self, cycle: Cycle, node: NodeInfo) -> int:
        """Prefer the nodes of the pod's own team: 100 is the best score, 0 the least."""
        team = cycle.pod.labels.get("team")
        return 100 if team and node.labels.get("team") == team else 0
''',
        """def test_nodes_of_the_same_team_are_preferred():
    made = cluster(node("a"), node("b", labels={"team": "red"}))
    scores = plugin_on(NAME, made).score(Cycle(pod(labels={"team": "red"})), made.nodes)
    assert scores.tolist() == [0, 100]
""",
    ),
    "reserve": _Piece(
        "ReservePlugin",
        ("Cycle", "SUCCESS", "Status"),
        '''    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Reserve what the pod needs; put it into the cluster as an object, so that other pods see it."""
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Undo the reservation; called also where nothing was reserved."""
''',
        """def test_a_reservation_can_be_undone():
    plugin = plugin_on(NAME, cluster(node("a")))
    assert plugin.reserve(Cycle(pod()), "a").successful
    plugin.unreserve(Cycle(pod()), "a")
""",
    ),
    "permit": _Piece(
        "PermitPlugin",
        ("Cycle", "SUCCESS", "Status", "wait"),
        '''    def permit(self, cycle: Cycle, node_name: str) -> Status:
        """Make pods with the label wait=true wait for at most a minute."""
        return wait(60.0) if cycle.pod.labels.get("wait") == "true" else SUCCESS
''',
        """@pytest.mark.parametrize(("labels", "code"), [({}, Code.SUCCESS), ({"wait": "true"}, Code.WAIT)])
def test_a_pod_with_the_label_waits(labels, code):
    plugin = plugin_on(NAME, cluster(node("a")))
    assert plugin.permit(Cycle(pod(labels=labels)), "a").code is code
""",
        ("Code", "Cycle"),
    ),
    "preBind": _Piece(
        "PreBindPlugin",
        ("Cycle", "SUCCESS", "Status"),
        '''    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Do what must be done before the bind."""
        return SUCCESS
''',
        """def test_the_bind_may_go_on():
    assert plugin_on(NAME, cluster(node("a"))).pre_bind(Cycle(pod()), "a").successful
""",
    ),
    "bind": _Piece(
        "BindPlugin",
        ("Cycle", "SKIP", "Status"),
        '''    def bind(self, cycle: Cycle, node_name: str) -> Status:
        """Leave the bind to the next plugin."""
        return SKIP
''',
        """def test_the_bind_is_left_to_the_next_plugin():
    assert plugin_on(NAME, cluster(node("a"))).bind(Cycle(pod()), "a") is SKIP
""",
        ("Cycle", "SKIP"),
    ),
    "postBind": _Piece(
        "PostBindPlugin",
        ("Cycle",),
        '''    def post_bind(self, cycle: Cycle, node_name: str) -> None:
        """Do what has to follow the bind."""
''',
        """def test_a_bound_pod_is_reported():
    plugin_on(NAME, cluster(node("a"))).post_bind(Cycle(pod()), "a")
""",
    ),
}


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin, e.g. TeamFence")],
    point: Annotated[
        str, typer.Option("--point", metavar="POINT,...", help="Extension points to implement (default: filter,score)")
    ] = "filter,score",
    folder: Annotated[
        str, typer.Option("--folder", metavar="DIR", help="Folder to write to (default: this one)")
    ] = ".",
    package: Annotated[
        bool, typer.Option("--package", help="Write a package that registers the plugin when it is installed")
    ] = False,
) -> None:
    """Write a working scheduler plugin with tests, as a start for your own.

    Extension points are preEnqueue, queueSort, preFilter, filter, postFilter, preScore, score, reserve, permit,
    preBind, bind and postBind. No file is overwritten.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f'invalid plugin name "{name}"', "a word in camel case, e.g. TeamFence")
    points = [each.strip() for each in point.split(",") if each.strip()]
    for unknown in (each for each in points if each not in _PIECES):
        raise UsageError(f'unknown extension point "{unknown}"', f"the extension points are: {', '.join(_PIECES)}")
    if not points:
        raise UsageError("no extension point given", f"the extension points are: {', '.join(_PIECES)}")
    module = _WORDS.sub("_", name).lower()
    home = Path(folder) / module.replace("_", "-") if package else Path(folder)
    files = {home / f"{module}.py": _plugin(name, points), home / f"test_{module}.py": _tests(name, module, points)}
    if package:
        files[home / "pyproject.toml"] = _PROJECT.format(name=name, module=module, project=module.replace("_", "-"))
    _write(files)
    for path in files:
        typer.echo(path)


_PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{project}"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["schedctl"]

[project.entry-points."schedctl.plugins"]
{name} = "{module}:{name}"

[tool.hatch.build.targets.wheel]
include = ["{module}.py"]
"""


def _plugin(name: str, points: list[str]) -> str:
    pieces = [_PIECES[point] for point in points]
    imports = _sort_imports({each for piece in pieces for each in (piece.base, *piece.imports)})
    bases = ", ".join(piece.base for piece in pieces)
    if len(pieces) > _ON_A_LINE:
        bases = "\n" + _lines([piece.base for piece in pieces])
    state = f'STATE = StateKey[str]("{name}")\n\n\n' if "preFilter" in points else ""
    docstring = '''"""A scheduler plugin for schedctl; `schedctl explain --plugin FILE` tries it on a cluster."""\n\n'''
    body = "\n".join(piece.body for piece in pieces)
    head = f"from __future__ import annotations\n\nfrom schedctl.framework import (\n{_lines(imports)})\n\n"
    return (
        f'{docstring}{head}{state or chr(10)}class {name}({bases}):\n    """What it is for, in a sentence."""\n\n{body}'
    )


def _tests(name: str, module: str, points: list[str]) -> str:
    pieces = [_PIECES[point] for point in points]
    tests = "\n\n".join(piece.test.replace("NAME", name) for piece in pieces)
    needed = sorted({each for each in ("cluster", "node", "plugin_on", "pod", "scheduler_with") if f"{each}(" in tests})
    framework = _sort_imports({each for piece in pieces for each in piece.testing})
    names = f"STATE, {name}" if "STATE" in tests else name
    lines = ["import numpy as np"] if "np." in tests else []
    lines += ["import pytest"] if "pytest." in tests else []
    lines += [f"from {module} import {names}", ""]
    lines += [f"from schedctl.framework import {', '.join(framework)}"] if framework else []
    lines += [f"from schedctl.testing import {', '.join(sorted({*needed, 'laws_of'}))}"]
    head = '"""What the plugin decides, case by case, and the laws every plugin must satisfy."""\n\n'
    return f"{head}{chr(10).join(lines)}\n\nTestLaws = laws_of({name})\n\n\n{tests}"


def _sort_imports(names: set[str]) -> list[str]:
    """Return names as sorters of imports have them: constants, then classes, then functions."""
    return sorted(names, key=lambda name: (not name.isupper(), name[0].islower(), name))


def _lines(names: list[str]) -> str:
    return "".join(f"    {name},\n" for name in names)


def _write(files: dict[Path, str]) -> None:
    """Write new files, all or none.

    Raises:
        UsageError: one is there already, or cannot be written.
    """
    for path in files:
        if path.exists():
            raise UsageError(f"{path} exists already", "no file is overwritten: give another NAME or --folder")
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from None
