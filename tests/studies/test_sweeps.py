"""Sweeps: every scenario once, in order, whoever runs it; stopped runs go on; mistakes are told before the first."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from schedctl.errors import ConfigError, UsageError
from schedctl.studies import reading, results, scenario_work, sweeps
from schedctl.studies.axes import Grid
from schedctl.studies.configurations import with_weights
from schedctl.studies.engines import InProcess, Processes

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures/clusters/shop"
HEAD = "apiVersion: schedctl.dev/v1alpha1\nkind: Study\nmetadata: {name: s}\nspec:\n"
LOSSES = f"""{HEAD}  state: [{SHOP}]
  pending: {{}}
  axes:
    lose: {{each: zone, nothing: true}}
    seeds: {{count: 2}}
"""


def prepared(tmp_path, text=LOSSES, **variables):
    file = tmp_path / "study.yaml"
    file.write_text(text)
    return sweeps.prepare(reading.read(str(file), variables))


def swept(tmp_path, text=LOSSES, name="out.jsonl", **options):
    path = tmp_path / name
    report = sweeps.sweep(prepared(tmp_path, text), str(path), command="schedctl sweep study.yaml", **options)
    return report, path


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


# -- the axes ---------------------------------------------------------------------------------


def test_every_combination_is_a_scenario_and_the_last_axis_is_the_fastest(tmp_path):
    grid = prepared(tmp_path).work.grid
    assert isinstance(grid, Grid)
    assert [tuple(grid[number].labels.values()) for number in range(len(grid))] == [
        ("nothing", 0),
        ("nothing", 1),
        ("zone eu-west-1a", 0),
        ("zone eu-west-1a", 1),
        ("zone eu-west-1b", 0),
        ("zone eu-west-1b", 1),
        ("zone eu-west-1c", 0),
        ("zone eu-west-1c", 1),
    ]


def test_a_study_without_axes_is_one_scenario(tmp_path):
    report, path = swept(tmp_path, f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n")
    assert report.summary.answered == 1
    assert rows(path)[0]["values"]["pending"] == 2


def test_several_nodes_at_once_are_drawn_by_the_seed(tmp_path):
    text = (
        f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n  axes: {{lose: {{each: node, together: 2, count: 3, seed: 1}}}}\n"
    )
    grid = prepared(tmp_path, text).work.grid
    assert [grid[number].labels for number in range(3)] == [
        prepared(tmp_path, text).work.grid[n].labels for n in range(3)
    ]
    assert len(grid[0].what_ifs) == 2


@pytest.mark.parametrize(
    ("axes", "labels"),
    [
        pytest.param("configurations: [default, bin-packing]", ["default", "bin-packing"], id="configurations"),
        pytest.param("versions: ['1.36', '1.37']", ["1.36", "1.37"], id="versions"),
        pytest.param(
            "featureGates: ['', DRADerivedAttributes=true]", ["default", "DRADerivedAttributes=true"], id="gates"
        ),
        pytest.param(
            "weights: {grid: {NodeResourcesFit: [1, 9], ImageLocality: [2]}}",
            ["NodeResourcesFit=1 ImageLocality=2", "NodeResourcesFit=9 ImageLocality=2"],
            id="weights on a grid",
        ),
        pytest.param("scale: {deploy/shop/web: [1, 30]}", [1, 30], id="scales"),
        pytest.param(f"states: [{SHOP}, {ROOT}/fixtures/clusters/lab]", ["shop", "lab"], id="states"),
    ],
)
def test_an_axis_is_carried_out(tmp_path, axes, labels):
    state = "" if "states" in axes else f"  state: [{SHOP}]\n"
    report, path = swept(tmp_path, f"{HEAD}{state}  pending: {{}}\n  axes: {{{axes}}}\n")
    assert [next(iter(row["axes"].values())) for row in rows(path)] == labels
    assert (report.summary.answered, report.errors) == (len(labels), {})


def test_a_scale_makes_pods_pending(tmp_path):
    _, path = swept(
        tmp_path, f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n  axes: {{scale: {{deploy/shop/web: [1, 60]}}}}\n"
    )
    few, many = (row["values"]["pending"] for row in rows(path))
    assert many > few + 10


def test_a_profile_that_ships_places_pods_of_the_default_scheduler(tmp_path):
    _, path = swept(tmp_path, f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n  axes: {{configurations: [bin-packing]}}\n")
    assert rows(path)[0]["values"]["pods"] == 2


def test_weights_take_the_place_of_those_of_the_configuration(tmp_path):
    session = scenario_work.session_of(prepared(tmp_path).work.spec, prepared(tmp_path).work.grid[0], None)
    changed = with_weights(session.choice.configuration, {"ImageLocality": 7})
    session.choices = [type(session.choice)(changed)]
    assert session.scheduler().profiles["default-scheduler"].weights["ImageLocality"] == 7
    assert session.scheduler().profiles["default-scheduler"].weights["NodeResourcesFit"] == 1


# -- questions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "value"),
    [
        pytest.param(
            f"simulate: {{manifests: [{ROOT}/fixtures/workloads/assistant.yaml]}}", ("placed", 3), id="simulate"
        ),
        pytest.param("drain: {nodes: [gpu-a-1]}", ("nodes", 1), id="drain"),
        pytest.param("capacity: {like: [deploy/web], namespace: shop}", ("fits", 0), id="capacity"),
        pytest.param(
            f"check: {{manifests: [{ROOT}/fixtures/workloads/assistant.yaml]}}", ("violations", 0), id="check"
        ),
    ],
)
def test_a_question_is_asked(tmp_path, question, value):
    report, path = swept(tmp_path, f"{HEAD}  state: [{SHOP}]\n  {question}\n")
    assert report.errors == {}
    assert rows(path)[0]["values"][value[0]] == value[1]


# -- the results ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(Processes(2, batch=1), id="two processes, one scenario at a time"),
        pytest.param(Processes(3, batch=4), id="three processes"),
        pytest.param(Processes(2, start="spawn"), id="processes that are no copies"),
    ],
)
def test_the_number_of_workers_makes_no_difference_to_a_byte(tmp_path, engine):
    (one, alone), (other, together) = swept(tmp_path, name="a.jsonl"), swept(tmp_path, name="b.jsonl", engine=engine)
    assert alone.read_bytes() == together.read_bytes()
    assert one.values == other.values


@pytest.mark.parametrize("torn", [b"", b'{"scenario":3,"ax', b"\x00\x00"])
def test_a_stopped_run_goes_on_where_it_ended(tmp_path, torn):
    _, whole = swept(tmp_path)
    expected = whole.read_bytes()
    whole.write_bytes(b"".join(expected.splitlines(keepends=True)[:4]) + torn)
    report, path = swept(tmp_path)
    assert path.read_bytes() == expected
    assert (report.summary.resumed, report.summary.answered) == (3, 8)


def test_results_of_another_study_are_not_written_over(tmp_path):
    swept(tmp_path)
    with pytest.raises(UsageError, match="has results of this study before it, or a file that it reads, was changed"):
        swept(tmp_path, LOSSES.replace("count: 2", "count: 3"))
    with pytest.raises(UsageError, match="has the results of study s"):
        swept(tmp_path, LOSSES.replace("name: s}", "name: t}"))
    report, _ = swept(tmp_path, LOSSES.replace("count: 2", "count: 3"), anew=True)
    assert report.summary.scenarios == 12


def test_a_file_that_has_no_results_is_left_alone(tmp_path):
    (tmp_path / "out.jsonl").write_text("my diary\n")
    with pytest.raises(UsageError, match="has no results of a study"):
        swept(tmp_path)
    assert (tmp_path / "out.jsonl").read_text() == "my diary\n"


def test_a_full_disk_keeps_what_was_written_and_says_how_to_go_on(tmp_path, monkeypatch):
    write, written = results.ResultsFile._write, []

    def full(self, line):
        if len(written) == 4:
            raise OSError(28, os.strerror(28))
        written.append(line)
        write(self, line)

    monkeypatch.setattr(results.ResultsFile, "_write", full)
    with pytest.raises(UsageError, match="no space left on device; 3 of 8 scenarios are kept") as fault:
        swept(tmp_path)
    assert fault.value.hint == "make room, and run the same command: it goes on there"
    monkeypatch.undo()
    assert swept(tmp_path)[0].summary.resumed == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_disk_that_is_full_from_the_start_is_told(tmp_path):
    with pytest.raises(UsageError, match="/dev/full: "):
        sweeps.sweep(prepared(tmp_path), "/dev/full")


def test_an_interrupted_run_keeps_its_rows_and_says_so(tmp_path):
    class Stopped:
        def results(self, work, scenarios):
            yield from InProcess().results(work, [*scenarios][:2])
            raise KeyboardInterrupt

    report, path = swept(tmp_path, engine=Stopped())
    assert (report.summary.exit_code, report.summary.answered, len(rows(path))) == (130, 2, 2)


def test_a_scenario_that_fails_is_a_row_with_its_error(tmp_path):
    lab = ROOT / "fixtures/clusters/lab"
    text = f"{HEAD}  pending: {{}}\n  axes: {{states: [{SHOP}, {lab}], scale: {{deploy/shop/web: [2]}}}}\n"
    report, path = swept(tmp_path, text)
    good, bad = rows(path)
    assert (good["error"], bad["values"]) == ("", {})
    assert bad["error"].startswith('deployment "web" not found') or "not found" in bad["error"]
    assert (report.summary.failed, report.summary.exit_code) == (1, 5)
    assert sum(report.errors.values()) == 1


def test_the_worst_scenario_can_be_repeated_by_its_number(tmp_path):
    report, path = swept(tmp_path)
    worst = report.worst[0]
    assert worst.value == max(row["values"]["pending"] for row in rows(path))
    assert worst.command == f"schedctl sweep study.yaml --only {worst.scenario}"
    again = sweeps.ask_only(prepared(tmp_path), worst.scenario)
    assert again.values == rows(path)[worst.scenario]["values"]
    with pytest.raises(UsageError, match="no scenario 8"):
        sweeps.ask_only(prepared(tmp_path), 8)


def test_pods_that_are_ever_pending_are_counted(tmp_path):
    report, _ = swept(tmp_path)
    shares = {each.pod: each.scenarios for each in report.pending}
    assert shares["ml/train-zkdlf"] == 8


def test_parquet_has_a_column_for_each_axis_and_value(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    report, path = swept(tmp_path, name="out.parquet")
    table = parquet.read_table(path)
    assert table.num_rows == 8
    assert {"scenario", "axis.lose", "axis.seed", "pending", "error"} <= set(table.column_names)
    assert table.column("axis.seed").to_pylist() == [0, 1] * 4
    assert report.results == str(path)
    assert table.column("pending").to_pylist() == [
        row["values"]["pending"] for row in rows(tmp_path / "out.parquet.jsonl")
    ]


def test_metrics_of_a_run_are_curves_by_the_first_axis_that_is_no_seed(tmp_path):
    trace = tmp_path / "pods.csv"
    columns = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time"
    trace.write_text("\n".join([columns, *(f"p{number},1000,1,0,0,{number},99" for number in range(8))]) + "\n")
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("sn,cpu_milli,memory_mib,gpu\nn,8000,99999,0\n")
    text = f"""{HEAD}  run:
    nodes: {nodes}
    trace: {{openb: {trace}}}
    at: [25, 50, 100]
  axes: {{configurations: [default, bin-packing], seeds: {{count: 2}}}}
"""
    report, _ = swept(tmp_path, text)
    assert (report.arrived, {each.metric for each in report.curves} & {"dropped", "pending"}) == ("cpu", set())
    (curve,) = [each for each in report.curves if (each.metric, each.value) == ("allocated.cpu", "bin-packing")]
    assert [(point.at, point.mean, point.lowest, point.highest) for point in curve.points] == [
        (25, 25, 25, 25),
        (50, 50, 50, 50),
        (100, 100, 100, 100),
    ]


# -- told before the first run ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        pytest.param("versions: ['9.x']", "9.x", id="a version that is none"),
        pytest.param(
            "versions: ['1.37', '1.99']",
            r"study.yaml:7:29: spec.axes.versions\[1\]: kube-scheduler 1.99 is not reproduced",
            id="a version that is not reproduced",
        ),
        pytest.param(
            "scale: {deploy/shop/wbe: [1]}",
            'study.yaml:7:35: spec.axes.scale.deploy/shop/wbe: Deployment "wbe" not found',
            id="a scale of no workload",
        ),
        pytest.param("featureGates: [Nonsense=true]", "Nonsense", id="an unknown gate"),
        pytest.param("configurations: [bin-pakcing]", "bin-pakcing", id="an unknown profile"),
        pytest.param("weights: {grid: {NodeName: [1]}}", 'no score plugin "NodeName"', id="a weight of a filter"),
        pytest.param("lose: {each: rack}", 'no node has a label "rack"', id="a label that no node has"),
        pytest.param("lose: {each: zone, together: 9, count: 1}", "9 of 3 cannot be lost", id="more than there are"),
        pytest.param("seeds: {count: 99999999}", "are more than", id="too many"),
        pytest.param(f"seeds: {{count: {10**18}}}", "are more than", id="too many to count"),
        pytest.param(
            f"weights: {{grid: {{NodeAffinity: {[*range(1, 4001)]}, ImageLocality: {[*range(1, 4001)]}}}}}",
            "16,000,000 scenarios are more than",
            id="a grid that nobody could hold",
        ),
    ],
)
def test_an_axis_that_cannot_be_carried_out_is_refused_beforehand(tmp_path, axes, message):
    with pytest.raises(ConfigError, match=message):
        prepared(tmp_path, f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n  axes: {{{axes}}}\n")


def test_the_configuration_of_all_scenarios_has_its_place(tmp_path):
    with pytest.raises(ConfigError, match=r"study\.yaml:7:18: spec\.configuration: .* is neither a file nor a profile"):
        prepared(tmp_path, f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n  configuration: defualt\n")


def test_a_misspelt_decisive_number_ends_the_study_at_its_first_row(tmp_path):
    text = f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n  decisive: pendign\n  axes: {{seeds: {{count: 9}}}}\n"
    with pytest.raises(ConfigError, match=r'study\.yaml:7:13: spec\.decisive: no number "pendign"') as fault:
        swept(tmp_path, text)
    assert fault.value.problems[0].hint == "did you mean pending?"
    assert rows(tmp_path / "out.jsonl") == []


NESTED = """
from schedctl.framework import PluginArgs, ScorePlugin


class Inner(PluginArgs, frozen=True):
    weight: int = 1


class Outer(PluginArgs, frozen=True):
    inner: tuple[Inner, ...] = ()
    name: str = ""
    most: int = 0


class Nested(ScorePlugin):
    args_type = Outer

    def score(self, cycle, nodes):
        return nodes.rows * 0
"""


def mistakes(tmp_path, spec):
    with pytest.raises(ConfigError) as found:
        prepared(tmp_path, f"{HEAD}{spec}")
    return [(problem.line, problem.path, problem.message) for problem in found.value.problems]


def test_mistakes_in_arguments_are_all_told_in_the_order_of_the_file(tmp_path):
    (tmp_path / "nested.py").write_text(NESTED)
    assert mistakes(
        tmp_path,
        f"""  state: [{SHOP}]
  plugins: [nested.py]
  arguments:
    Nested:
      most: many
      inner: [{{weight: 1}}, {{weight: heavy}}, {{wieght: 2}}]
      name: 7
    NodeResourcesFit: {{ignoredResources: 5}}
    Nestd: {{a: 1}}
    NodeName: {{a: 1}}
  pending: {{}}
""",
    ) == [
        (9, "spec.arguments.Nested.most", 'expected an integer, got text "many"'),
        (10, "spec.arguments.Nested.inner[1].weight", 'expected an integer, got text "heavy"'),
        (10, "spec.arguments.Nested.inner[2].wieght", 'unknown field "wieght"'),
        (11, "spec.arguments.Nested.name", "expected text, got the number 7"),
        (12, "spec.arguments.NodeResourcesFit.ignoredResources", "expected a list, got the number 5"),
        (13, "spec.arguments.Nestd", 'no plugin "Nestd"'),
        (14, "spec.arguments.NodeName", "plugin NodeName takes no arguments"),
    ]


def test_arguments_may_have_variables(tmp_path):
    (tmp_path / "nested.py").write_text(NESTED)
    spec = f"  state: [{SHOP}]\n  plugins: [nested.py]\n  pending: {{}}\n"
    read = prepared(tmp_path, HEAD + spec + "  arguments: {Nested: {name: '${who}'}}\n", who="me")
    made = scenario_work.session_of(read.work.spec, Grid(())[0], None)
    (args,) = (each.args for each in made.choice.configuration.profiles[0].plugin_config if each.name == "Nested")
    assert args.name == "me"


def test_files_that_are_missing_are_all_told_beforehand_with_where_they_were_looked_for(tmp_path):
    found = mistakes(tmp_path, f"  state: [{SHOP}, gone.yaml]\n  simulate: {{manifests: [nowhere.yaml]}}\n")
    assert found == [
        (5, "spec.state[1]", f"{tmp_path / 'gone.yaml'} does not exist"),
        (6, "spec.simulate.manifests[0]", f"{tmp_path / 'nowhere.yaml'} does not exist"),
    ]


TRACE = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\na,4000,1,0,0,0,1\n"
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn,10000,1000,0,\n"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        pytest.param(
            "  drain: {nodes: [general-a-1, node/gone, other]}\n",
            [(6, "spec.drain.nodes[1]", 'node "gone" not found'), (6, "spec.drain.nodes[2]", 'node "other" not found')],
            id="nodes that are to be drained",
        ),
        pytest.param(
            "  drain: {selector: no=such}\n",
            [(6, "spec.drain.selector", "no node has these labels")],
            id="labels that no node has",
        ),
        pytest.param(
            "  capacity: {like: [deploy/web, deploy/nope], namespace: shop}\n",
            [(6, "spec.capacity.like[1]", 'no Deployment "nope" in namespace shop')],
            id="a workload to be counted",
        ),
        pytest.param(
            "  run: {nodes: n.csv, trace: {openb: p.csv}, at: [40, 60]}\n",
            [(6, "spec.run.at[1]", "60 % of cpu never arrive")],
            id="a share that the trace never comes to",
        ),
    ],
)
def test_what_the_cluster_does_not_have_is_told_beforehand(tmp_path, spec, told):
    (tmp_path / "p.csv").write_text(TRACE)
    (tmp_path / "n.csv").write_text(NODES)
    assert mistakes(tmp_path, f"  state: [{SHOP}]\n{spec}") == told


@pytest.mark.parametrize("pending", ["drop", "retry"])
def test_runs_say_how_many_pods_came_and_were_bound_whatever_becomes_of_others(tmp_path, pending):
    (tmp_path / "p.csv").write_text(TRACE + "b,8000,1,0,0,5,6\nc,3000,1,0,0,5,6\n")
    (tmp_path / "n.csv").write_text(NODES)
    spec = f"  run: {{nodes: n.csv, trace: {{openb: p.csv}}, pending: {pending}, horizon: 9, at: [40, 150]}}\n"
    report, path = swept(tmp_path, HEAD + spec)
    (row,) = rows(path)
    assert (report.summary.answered, report.decisive, row["error"]) == (1, "bound", "")
    values = row["values"]
    assert (values["arrived"], values["bound"], values["gone"]) == (3.0, 2.0, 0.0)
    assert (values["dropped"], values["pending@150"]) == ((1.0, 0.0) if pending == "drop" else (0.0, 1.0))


@pytest.mark.parametrize(
    ("at", "value", "error"),
    [
        pytest.param(45, 40.0, "", id="between two arrivals"),
        pytest.param(119, 40.0, "", id="just before a large pod"),
        pytest.param(120, 40.0, "", id="with a large pod, which is dropped"),
        pytest.param(30, None, "30 % of cpu had arrived at no time: with the first pod it was 40 %", id="too early"),
    ],
)
def test_metrics_are_those_of_the_last_arrival_before_a_share(tmp_path, at, value, error):
    (tmp_path / "p.csv").write_text(TRACE + "b,8000,1,0,0,5,6\n")
    (tmp_path / "n.csv").write_text(NODES)
    spec = f"  run: {{nodes: n.csv, trace: {{openb: p.csv}}, at: [{at}]}}\n"
    _, path = swept(tmp_path, HEAD + spec)
    (row,) = rows(path)
    assert (row["values"].get(f"allocated.cpu@{at}"), row["error"]) == (value, error)


def test_conditions_that_scenarios_do_not_share_are_not_those_of_the_first(tmp_path):
    gates = "featureGates: ['', 'GenericWorkload=true']"
    axes = f"{{versions: ['1.36', '1.37'], configurations: [default, bin-packing], {gates}}}"
    metadata = prepared(tmp_path, f"{HEAD}  state: [{SHOP}]\n  pending: {{}}\n  axes: {axes}\n").metadata
    first, last = metadata.kubernetes_version.split(" and ")
    assert (first[:5], last[:5]) == ("v1.36", "v1.37")
    assert (metadata.configuration, metadata.feature_gates) == ("2 configurations", [])


# -- what is told on the command line ----------------------------------------------------------


SIMULATED = f"""{HEAD}  state: [{SHOP}]
  simulate: {{manifests: [{ROOT / "fixtures/releases/spring"}]}}
"""


def sweep_command(tmp_path, capsys, text, *options):
    from schedctl.cli.running import run

    file = tmp_path / "study.yaml"
    file.write_text(text)
    code = run(("sweep", str(file), "--jobs", "1", "--results", str(tmp_path / "out.jsonl"), *options))
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    "field", ["configuration: only-batch.yaml", "axes: {configurations: [default, only-batch.yaml]}"]
)
def test_a_configuration_that_places_no_pod_without_a_scheduler_name_is_warned_of(tmp_path, capsys, field):
    profile = "profiles: [{schedulerName: batch}]"
    config = f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{profile}\n"
    (tmp_path / "only-batch.yaml").write_text(config)
    code, _, err = sweep_command(tmp_path, capsys, f"{SIMULATED}  {field}\n")
    assert code == 0
    assert "only-batch.yaml is named default-scheduler; pods need schedulerName batch" in err
    _, _, err = sweep_command(
        tmp_path, capsys, f"{SIMULATED}  axes: {{configurations: [default, batch]}}\n", "--restart"
    )
    assert err == ""  # a profile by its name stands in for the default scheduler


def test_a_scenario_without_an_answer_ends_with_5_when_it_is_asked_alone_as_in_the_study(tmp_path, capsys):
    text = f"{HEAD}  state: [{SHOP}]\n  drain: {{nodes: [general-a-1]}}\n  axes: {{lose: {{each: node}}}}\n"
    whole, out, _ = sweep_command(tmp_path, capsys, text)
    assert "16 of 17 scenarios answered; 1 failed" in out
    alone, out, _ = sweep_command(tmp_path, capsys, text, "--only", "0")
    assert json.loads(out)["error"] == 'node "general-a-1" not found'
    assert (whole, alone) == (5, 5)
    assert sweep_command(tmp_path, capsys, text, "--only", "1")[0] == 0


def test_results_go_to_a_file_and_not_to_one_called_dash(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = sweep_command(tmp_path, capsys, LOSSES, "--results", "-")
    assert code == 2
    assert "--results names a file" in err
    assert not (tmp_path / "-").exists()


def test_a_namespace_is_asked_for_in_the_words_of_a_study(tmp_path):
    with pytest.raises(ConfigError) as fault:
        prepared(tmp_path, f"{HEAD}  state: [{SHOP}]\n  capacity: {{like: [deploy/cart]}}\n")
    assert fault.value.problems[0].hint == "there is one in namespace shop: add `namespace: shop`"


def test_a_list_that_a_spreadsheet_saved_is_read(tmp_path):
    from schedctl.studies.traces import read_openb_nodes

    file = tmp_path / "nodes.csv"
    file.write_text("sn,cpu_milli,memory_mib,gpu\nn0,1000,1024,0\n", encoding="utf-8-sig")
    assert [node.metadata.name for node in read_openb_nodes(str(file))] == ["n0"]
