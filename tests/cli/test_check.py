"""``schedctl check`` as a gate: what it takes, how it ends, and what a repository may set for it."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schedctl.errors import ClusterError
from schedctl.session.states import State

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {topology.kubernetes.io/zone: eu-1a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: a, image: a, resources: {requests: {cpu: "1"}}}]
"""
BIG = WEB.replace("name: web", "name: big").replace('cpu: "1"', 'cpu: "3"')
POLICY = "apiVersion: schedctl.dev/v1alpha1\nkind: CheckPolicy\nmetadata: {name: mine}\nspec:\n  checks:\n"
FITS = "    - {name: fits, builtin: schedulable}\n"
UNCLEAR = "    - {name: unclear, scope: run, validations: [{expression: 'result.headroom.gpus > 0'}]}\n"
CONFIG = "apiVersion: schedctl.dev/v1alpha1\nkind: Config\n"
BASELINE = "apiVersion: schedctl.dev/v1alpha1\nkind: CheckBaseline\nentries: []\n"
STATE = ("-f", "node.yaml")


@pytest.fixture
def check(schedctl, tmp_path, monkeypatch):
    """``schedctl check`` in a folder of its own that is a repository, with a node and two Deployments."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    for name, text in {
        "node": NODE,
        "web": WEB,
        "big": BIG,
        "policy": POLICY + FITS,
        "unclear": POLICY + UNCLEAR,
    }.items():
        (tmp_path / f"{name}.yaml").write_text(text)

    def check(*arguments, stdin=None):
        return schedctl("check", *arguments, stdin=stdin)

    return check


def test_a_spread_that_does_nothing_is_noted_and_fails_nothing(check):
    constraint = "{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}"
    manifest = WEB.replace("      containers:", f"      topologySpreadConstraints: [{constraint}]\n      containers:")
    ended = check("-", *STATE, stdin=manifest)
    note = (
        "Deployment shop/web: its topology spread over topology.kubernetes.io/zone has no effect: it has no"
        " labelSelector, which counts no pod"
    )
    assert (ended.code, f"note: {note}" in ended.out) == (0, True)
    report = json.loads(check("-", *STATE, "-o", "json", stdin=manifest).out)
    assert (report["notes"], report["summary"]["exitCode"]) == ([note], 0)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("web.yaml", *STATE), 0, id="every pod finds a node"),
        pytest.param(("big.yaml", *STATE), 1, id="one does not"),
        pytest.param(("big.yaml", *STATE, "--fail-on", "never"), 0, id="which need not fail"),
        pytest.param(("web.yaml", *STATE, "-p", "policy.yaml"), 0, id="with a policy"),
        pytest.param(("web.yaml", *STATE, "-p", "unclear.yaml"), 5, id="what cannot be told is no verdict"),
        pytest.param(("web.yaml", *STATE, "-p", "unclear.yaml", "--on-inconclusive", "warn"), 0, id="or a warning"),
        pytest.param(("web.yaml", *STATE, "-p", "unclear.yaml", "--on-inconclusive", "ignore"), 0, id="or nothing"),
        pytest.param(("big.yaml", *STATE, "-p", "policy.yaml", "--max-age", "1h"), 1, id="a violation goes before it"),
        pytest.param(("web.yaml", *STATE, "--max-age", "1h"), 5, id="a state of no known age proves nothing"),
        pytest.param(("web.yaml",), 2, id="no state"),
        pytest.param((*STATE,), 2, id="no manifests"),
        pytest.param(("web.yaml", *STATE, "-p", "none.yaml"), 2, id="no policy of that name"),
        pytest.param(("web.yaml", *STATE, "-p", "web.yaml"), 2, id="no policy at all"),
        pytest.param(("-", *STATE, "-p", "-"), 2, id="manifests and policies from one standard input"),
        pytest.param(("web.yaml", *STATE, "--fail-on", "eror"), 2, id="no severity"),
        pytest.param(("web.yaml", *STATE, "--max-age", "old"), 2, id="no time"),
        pytest.param(("web.yaml", *STATE, "--baseline", "none.yaml"), 2, id="no baseline"),
        pytest.param(("web.yaml", *STATE, "-o", "xml"), 2, id="no output"),
        pytest.param(("web.yaml", *STATE, "--context", "prod"), 2, id="a cluster, and files"),
        pytest.param(("none.yaml", *STATE), 3, id="no file"),
        pytest.param(("web.yaml", "-f", "none.yaml"), 3, id="no file of the state"),
    ],
)
def test_how_it_ends(check, arguments, code):
    ended = check(*arguments)
    assert ended.code == code, ended
    assert bool(ended.out) == (code in (0, 1, 5))


def test_the_text_says_where_and_why(check):
    ended = check("big.yaml", *STATE)
    assert ended.out.startswith(
        "big.yaml:10:63: error [schedulable] Deployment shop/big: only 1 of 2 pods can be scheduled\n"
    )
    assert ended.out.endswith(
        "1 error, 0 warnings, 0 exempted, 0 inconclusive (policy built-in, kube-scheduler v1.37.1 rules)\n"
    )


def test_without_a_state_it_says_what_names_one(check):
    ended = check("web.yaml")
    assert ended.err == (
        "error: no cluster state given: use -f FILE or --live\n"
        "hint: -f reads files or a snapshot, --live reads the live cluster\n"
    )


@pytest.mark.parametrize("arguments", [("web.yaml",), ("web.yaml", *STATE), ("web.yaml", "--context", "prod")])
def test_no_cluster_is_asked(check, monkeypatch, arguments):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a cluster was asked"))
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    assert check(*arguments).code in (0, 2)


def test_the_live_cluster_is_asked_when_it_says_so(check, monkeypatch):
    def refused(access):
        raise ClusterError("no answer")

    monkeypatch.setattr("schedctl.live.connections.Connection.open", refused)
    assert check("web.yaml", "--live").code == 4


@pytest.mark.parametrize(
    "stdin", ["", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"], ids=["nothing", "no workload"]
)
def test_nothing_to_check_is_no_pass(check, stdin):
    assert check("-", *STATE, stdin=stdin).code == 3
    assert check("-", *STATE, "--allow-empty", stdin=stdin).code == 0


def test_a_match_that_selects_nothing_is_a_note_or_a_fault(check):
    none = POLICY.replace("mine", "none").replace("  checks:", "  match: {namespaces: [none]}\n  checks:")
    Path("none.yaml").write_text(none + FITS)
    ended = check("web.yaml", *STATE, "-p", "none.yaml", "-p", "policy.yaml")
    assert ended.code == 0
    assert "policy none matches nothing in the manifests" in ended.out
    Path("none.yaml").write_text(Path("none.yaml").read_text().replace("  checks:", "  requireMatch: true\n  checks:"))
    refused = check("web.yaml", *STATE, "-p", "none.yaml")
    assert (refused.code, "policy none matches nothing" in refused.err) == (2, True)
    assert "requireMatch" not in refused.err


@pytest.mark.parametrize(
    ("above", "check_of_it"),
    [
        pytest.param("  match: {namespaces: [none]}\n", FITS, id="a match"),
        pytest.param("", FITS.replace("}", ", matchConditions: [{name: a, expression: 'false'}]}"), id="a condition"),
    ],
)
def test_a_gate_that_judges_nothing_does_not_open(check, above, check_of_it):
    Path("none.yaml").write_text(POLICY.replace("  checks:", f"{above}  checks:") + check_of_it)
    ended = check("web.yaml", *STATE, "-p", "none.yaml", "--write-baseline", "b.yaml")
    assert (ended.code, ended.out, Path("b.yaml").exists()) == (3, "", False)
    assert ended.err.startswith("error: nothing was checked: no check of mine applies to the manifests\n")
    assert "use `--allow-empty` to accept this" in ended.err
    assert check("web.yaml", *STATE, "-p", "none.yaml", "--allow-empty").code == 0
    assert check("web.yaml", *STATE, "-p", "none.yaml", "--max-age", "24h").code == 3


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "schedulabel",
            "Deployment shop/web does not name a check of this run; did you mean schedctl.dev/ignore.schedulable?",
        ),
        ("nosuch", "Deployment shop/web does not name a check of this run\n"),
    ],
)
def test_an_ignore_annotation_of_an_unknown_check_is_noted(check, written, message):
    Path("web.yaml").write_text(
        WEB.replace("annotations: {}", f"annotations: {{schedctl.dev/ignore.{written}: later}}")
    )
    assert f"note: the annotation schedctl.dev/ignore.{written} of {message}" in check("web.yaml", *STATE).out
    assert "the annotation" not in check("web.yaml", *STATE, "--no-inline-ignores").out


def test_an_ignore_in_the_manifest_accepts_unless_that_is_off(check):
    Path("big.yaml").write_text(BIG.replace("annotations: {}", "annotations: {schedctl.dev/ignore.schedulable: later}"))
    assert check("big.yaml", *STATE).code == 0
    assert check("big.yaml", *STATE, "--no-inline-ignores").code == 1


def test_the_report_names_everything_that_was_read(check):
    Path("b.yaml").write_text(BASELINE)
    document = json.loads(check("web.yaml", *STATE, "-p", "policy.yaml", "--baseline", "b.yaml", "-o", "json").out)
    assert [(each["role"], each["source"]) for each in document["metadata"]["inputs"]] == [
        ("Manifests", "web.yaml"),
        ("State", "node.yaml"),
        ("Policy", "policy.yaml"),
        ("Baseline", "b.yaml"),
    ]


# -- the age of the state ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("hours", "code", "message"),
    [
        (1, 0, "the state is no older than 24h0m0s"),
        (48, 5, "the state is 48h0m"),
        (-0.05, 0, "the state is no older than 24h0m0s"),
        (-1, 5, "the state is dated in the future"),
    ],
)
def test_an_old_state_proves_nothing(check, monkeypatch, hours, code, message):
    taken = (datetime.now(UTC) - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
    monkeypatch.setattr(State, "taken", taken)
    ended = check("web.yaml", *STATE, "--max-age", "24h", "-o", "json")
    document = json.loads(ended.out)
    assert (ended.code, document["summary"]["exitCode"], document["metadata"]["stateTaken"]) == (code, code, taken)
    assert document["results"][-1]["message"].startswith(message)
    assert check("big.yaml", *STATE, "--max-age", "24h").code == 1


def test_a_snapshot_says_how_old_it_is_so_that_the_recipe_for_pull_requests_works(check, schedctl, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(State, "taken", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        schedctl("snapshot", "create", "cluster.json.gz", *STATE)
    assert check("web.yaml", "-f", "cluster.json.gz", "--max-age=24h").code == 0


def test_what_rests_on_a_kind_that_could_not_be_listed_is_no_verdict(check, schedctl):
    Path("two.yaml").write_text(f"{NODE}---\n{NODE.replace('node-a', 'node-b')}")
    schedctl("snapshot", "create", "state.json", "-f", "two.yaml")
    snapshot = json.loads(Path("state.json").read_text())
    snapshot["metadata"]["missing"] = [{"kind": "Service", "reason": "Forbidden"}]
    Path("state.json").write_text(json.dumps(snapshot))
    ended = check("web.yaml", "-f", "state.json", "-o", "json")
    assert ended.code == 5
    (result,) = json.loads(ended.out)["results"]
    guess = "PodTopologySpread would also look at Services, which may not be listed: the answer is a guess"
    assert (result["outcome"], result["reasons"]) == ("Inconclusive", [guess])
    assert check("web.yaml", "-f", "state.json").out.count(guess) == 1, "said where it matters, and not once more"
    assert check("web.yaml", *STATE).code == 0, "on one node nobody asks where to spread"


# -- reports and baselines ---------------------------------------------------------------


def test_reports_go_to_files_in_the_same_run(check):
    ended = check("big.yaml", *STATE, "--report", "json=a.json", "--report", "sarif=b.sarif", "-q")
    assert ended.code == json.loads(Path("a.json").read_text())["summary"]["exitCode"] == 1
    assert json.loads(Path("b.sarif").read_text())["version"] == "2.1.0"
    assert sorted(path.name for path in Path().glob(".*")) == [".git"], "nothing is left beside them"


@pytest.mark.parametrize(("manifest", "code"), [("web.yaml", 0), ("big.yaml", 1), ("none.yaml", 3)])
def test_sarif_says_whether_the_check_was_made(check, manifest, code):
    assert check(manifest, *STATE, "--report", "sarif=a.sarif").code == code
    (invocation,) = json.loads(Path("a.sarif").read_text())["runs"][0]["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (code, code < 2)


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        pytest.param(["sarif"], '--report takes FORMAT=FILE, not "sarif"', id="no file"),
        pytest.param(["xml=a"], 'unknown output "xml"', id="no form"),
        pytest.param(["json=none/a"], "--report: no folder none to write a to", id="no folder"),
        pytest.param(["json=.git"], "--report: .git is a folder", id="a folder"),
        pytest.param(["json=a", "tap=./a"], "--report: two reports would be written to ./a", id="one file twice"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_the_run(check, monkeypatch, reports, message):
    monkeypatch.setattr("schedctl.sources.load", lambda *_, **__: pytest.fail("something was read"))
    ended = check("web.yaml", *STATE, *(word for report in reports for word in ("--report", report)))
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_a_report_keeps_the_rights_of_the_file_it_replaces(check):
    Path("a.json").write_text("old")
    Path("a.json").chmod(0o640)
    check("web.yaml", *STATE, "--report", "json=a.json")
    assert Path("a.json").stat().st_mode & 0o777 == 0o640
    Path("link.json").symlink_to("a.json")
    check("web.yaml", *STATE, "--report", "tap=link.json")
    assert Path("link.json").is_symlink()
    assert Path("a.json").read_text().startswith("TAP")


def test_a_baseline_accepts_what_is_and_fails_on_what_is_new(check):
    ended = check("big.yaml", *STATE, "--write-baseline", "b.yaml")
    assert (ended.code, "note: 1 violation written to b.yaml" in ended.out) == (0, True)
    assert check("big.yaml", *STATE, "--baseline", "b.yaml").code == 0
    Path("new.yaml").write_text(BIG.replace("name: big", "name: new"))
    assert check("big.yaml", "new.yaml", *STATE, "--baseline", "b.yaml").code == 1
    ended = check("web.yaml", *STATE, "--baseline", "b.yaml")
    assert (ended.code, "1 entry of the baseline occurs no longer" in ended.out) == (0, True)


def test_more_pending_pods_than_the_baseline_accepts_are_new(check):
    four = BIG.replace("replicas: 2", "replicas: 5").replace('cpu: "3"', 'cpu: "9"')
    Path("big.yaml").write_text(four)
    check("big.yaml", *STATE, "--write-baseline", "b.yaml")
    Path("big.yaml").write_text(four.replace("replicas: 5", "replicas: 4"))
    assert check("big.yaml", *STATE, "--baseline", "b.yaml").code == 0
    Path("big.yaml").write_text(four.replace("replicas: 5", "replicas: 50"))
    ended = check("big.yaml", *STATE, "--baseline", "b.yaml")
    assert ended.code == 1
    assert "big [schedulable] is worse than in the baseline: pods pending (50, 5 accepted)" in ended.out


def test_no_baseline_is_made_of_what_is_inconclusive(check):
    Path("b.yaml").write_text("good")
    arguments = ("web.yaml", *STATE, "-p", "unclear.yaml", "--write-baseline", "b.yaml")
    for more in ((), ("--on-inconclusive", "ignore")):
        ended = check(*arguments, *more)
        assert (ended.code, "nothing is written to b.yaml: 1 result inconclusive" in ended.out) == (5, True), ended
    assert Path("b.yaml").read_text() == "good"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--report", "json=b", "--write-baseline", "./b"), "would both write ./b", id="one file for two"),
        pytest.param(("--report", "json=node.yaml"), "node.yaml is an input of this command", id="over the state"),
        pytest.param(
            ("--report", "json=./web.yaml"), "./web.yaml is an input of this command", id="over the manifests"
        ),
        pytest.param(
            ("--write-baseline", "policy.yaml"), "policy.yaml is an input of this command", id="over a policy"
        ),
    ],
)
def test_nothing_is_written_over_what_was_read(check, arguments, message):
    ended = check("web.yaml", *STATE, "-p", "policy.yaml", *arguments)
    assert (ended.code, message in ended.err) == (2, True), ended
    assert [Path(name).read_text() for name in ("node.yaml", "web.yaml")] == [NODE, WEB]


def test_a_baseline_is_written_again_while_it_is_used(check):
    check("big.yaml", *STATE, "--write-baseline", "b.yaml")
    assert check("big.yaml", *STATE, "--baseline", "b.yaml", "--write-baseline", "b.yaml").code == 0


def test_a_policy_behind_a_link_out_of_the_folder_is_reported(check, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "strict.yaml"
    outside.write_text(POLICY + FITS)
    Path("policies").mkdir()
    Path("policies/mine.yaml").write_text(POLICY + FITS)
    Path("policies/strict.yaml").symlink_to(outside)
    ended = check("web.yaml", *STATE, "-p", "policies")
    note = "note: policies/strict.yaml: is a link to outside of the folder and is not followed; to read it, name it"
    assert (ended.code, note in ended.out) == (0, True)


# -- what a repository may set ------------------------------------------------------------


def test_a_repository_sets_what_is_checked_and_how(check, monkeypatch):
    Path("deploy").mkdir()
    Path(".schedctl.yaml").write_text(
        CONFIG + "check:\n  policies: [unclear.yaml]\n  state: [node.yaml]\n  output: json\n  reports: [tap=out.tap]\n"
        "  onInconclusive: warn\n"
    )
    monkeypatch.chdir("deploy")
    ended = check("../web.yaml")
    assert ended.code == 0, ended
    assert json.loads(ended.out)["policies"][0]["source"] == "../unclear.yaml"
    assert Path("../out.tap").read_text().startswith("TAP")


def test_options_go_before_what_a_repository_sets(check):
    Path(".schedctl.yaml").write_text(
        CONFIG
        + "check: {policies: [none.yaml], state: [none.yaml], output: json, failOn: error, baseline: none.yaml}\n"
    )
    Path("b.yaml").write_text(BASELINE)
    options = ("-p", "policy.yaml", *STATE, "-o", "text", "--baseline", "b.yaml")
    assert check("big.yaml", *options).code == 1
    assert check("big.yaml", *options, "--fail-on", "never").code == 0
    assert check("web.yaml", *STATE, "--no-config").code == 0


@pytest.mark.parametrize(
    ("written", "message"),
    [
        pytest.param("kubeconfig: ~/.kube/config\n", '"kubeconfig" cannot be set in a file', id="credentials"),
        pytest.param("check: {kubeconfig: x}\n", '"kubeconfig" cannot be set in a file', id="credentials for a check"),
        pytest.param("check: {context: prod}\n", '"context" cannot be set in a file', id="which cluster"),
        pytest.param("check: {as: admin}\n", '"as" cannot be set in a file', id="as whom"),
        pytest.param("check: {token: abc}\n", '"token" cannot be set in a file', id="a token"),
        pytest.param("check: {live: true}\n", '"live" cannot be set in a file', id="which cluster is read"),
        pytest.param("plugins: [evil]\n", '"plugins" cannot be set in a file', id="code to run"),
        pytest.param("bind: {yes: true}\n", '"bind" cannot be set in a file', id="consent to bind"),
        pytest.param("check: {polices: [a]}\n", 'unknown field "polices"', id="a misspelt field"),
        pytest.param("check: {failOn: eror}\n", 'failOn cannot be "eror"', id="a misspelt word"),
        pytest.param("check: {policies: [/etc]}\n", '"/etc" is an absolute path', id="an absolute path"),
        pytest.param("check: {state: [../x]}\n", '"../x" is outside of the repository', id="a path that leads out"),
        pytest.param(
            "check: {policies: ['../x@sha256:0']}\n", '"../x" is outside of the repository', id="with a digest"
        ),
        pytest.param('check: {policies: ["-"]}\n', '"-" is not a file', id="standard input"),
        pytest.param("check: {policies: ['away/*.yaml']}\n", "is outside of the repository", id="through a link"),
        pytest.param("check: {policies: ['out*.yaml']}\n", "is outside of the repository", id="a link that is matched"),
        pytest.param("check: {reports: [json=a/../.schedctl.yaml]}\n", "is a hidden file", id="a report over itself"),
        pytest.param("check: {reports: [json=.github/x]}\n", "is a hidden file", id="a report that others run"),
        pytest.param(
            "check: {maxAge: old}\n", '.schedctl.yaml:3:17: check.maxAge: "old" is not a duration', id="no age"
        ),
        pytest.param("check:\n  output: jsn\n", '.yaml:4:11: check.output: output cannot be "jsn"', id="no output"),
        pytest.param("check: {reports: [json]}\n", 'check.reports[0]: "json" is not a report', id="no report"),
        pytest.param("check: {baseline: ../b}\n", '"../b" is outside of the repository', id="also of a baseline"),
        pytest.param("check: {reports: [json=../r]}\n", '"../r" is outside of the repository', id="also of a report"),
        pytest.param(
            "check: {reports: [json=.git/config]}\n", '".git/config" is in the .git folder', id="what git keeps"
        ),
        pytest.param("check: {state: [link]}\n", '"link" is outside of the repository', id="a link that leads out"),
    ],
)
def test_what_no_repository_may_set(check, written, message):
    outside = Path.cwd().parent / f"{Path.cwd().name}-outside"
    outside.mkdir()
    (outside / "policy.yaml").write_text(POLICY + FITS)
    Path("a").mkdir()
    Path("away").symlink_to(outside)
    Path("out.yaml").symlink_to(outside / "policy.yaml")
    Path("link").symlink_to("/etc")
    Path(".schedctl.yaml").write_text(CONFIG + written)
    ended = check("web.yaml", *STATE)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_it_is_the_same_whatever_the_output(check):
    for manifests, code in (("web.yaml", 0), ("big.yaml", 1)):
        for form in ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap", "markdown"):
            assert check(manifests, *STATE, "-o", form, "-q", "--limit", "1").code == code


def test_an_interruption_is_no_verdict(check, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("schedctl.session.check.evaluate", interrupted)
    assert check("web.yaml", *STATE).code == 130


TAGGED = (
    POLICY.replace("  checks:", "  scenarios: [{name: smaller, changes: [{cordon: node-a}]}]\n  checks:")
    + "    - {name: fits, builtin: schedulable, tags: [capacity]}\n"
    + "    - {name: fits-still, builtin: schedulable, scenarios: [smaller], tags: [nightly]}\n"
    + "  exemptions: [{checks: [fits-still], reason: the node is not cordoned}]\n"
)
IGNORING = WEB.replace("annotations: {}", "annotations: {schedctl.dev/ignore.fits-still: known}")


@pytest.mark.parametrize(
    ("tags", "judged"),
    [
        pytest.param([], {"fits", "fits-still"}, id="no tag is all checks"),
        pytest.param(["capacity"], {"fits"}, id="one"),
        pytest.param(["capacity", "nightly"], {"fits", "fits-still"}, id="each of several"),
    ],
)
def test_tags_select_checks(check, tags, judged):
    Path("policy.yaml").write_text(TAGGED)
    ran = check(
        "web.yaml", *STATE, "-p", "policy.yaml", "-o", "json", *(each for tag in tags for each in ("--tag", tag))
    )
    assert {result["check"] for result in json.loads(ran.out)["results"]} == judged


def test_what_a_tag_leaves_out_is_counted_and_not_noted_as_unused(check):
    Path("policy.yaml").write_text(TAGGED)
    Path("web.yaml").write_text(IGNORING)
    ran = check("web.yaml", *STATE, "-p", "policy.yaml", "--tag", "capacity", "-o", "json")
    assert (ran.code, json.loads(ran.out)["notes"]) == (0, ["only 1 of 2 checks judged: --tag capacity"])


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        pytest.param(["--tag", "capasity"], ['no check has the tag "capasity"', "capacity"], id="a misspelt tag"),
        pytest.param(["--tag", "capacity", "--tag", "x"], ['no check has the tag "x"'], id="one of two is of no check"),
        pytest.param(["--tag", "capacity", "--write-baseline", "b.yaml"], ["remove --tag"], id="half a baseline"),
    ],
)
def test_a_tag_never_selects_less_than_was_meant(check, options, messages):
    Path("policy.yaml").write_text(TAGGED)
    ran = check("web.yaml", *STATE, "-p", "policy.yaml", *options)
    assert (ran.code, ran.out) == (2, "")
    assert all(message in ran.err for message in messages)


def test_several_findings_begin_with_a_table_and_a_fix_says_what_to_write(check):
    Path("big-2.yaml").write_text(BIG.replace("name: big", "name: big-2"))
    ran = check("big.yaml", "big-2.yaml", *STATE)
    lines = ran.out.splitlines()
    assert lines[0].split() == ["CHECK", "OBJECT", "FINDING"]
    assert lines[1].split()[:3] == ["built-in/schedulable", "Deployment", "shop/big"]
    assert lines[2].split()[:3] == ["built-in/schedulable", "Deployment", "shop/big-2"]
    assert lines[3] == ""
    place = next(number for number, line in enumerate(lines) if line.startswith("    fix:  "))
    assert "big.yaml:10: containers[0].resources.requests.cpu: " in lines[place + 1]


def test_one_finding_needs_no_table_and_its_fix_is_data_too(check):
    assert check("big.yaml", *STATE).out.startswith("big.yaml:")
    (result,) = json.loads(check("big.yaml", *STATE, "-o", "json").out)["results"]
    assert [fix["text"] for fix in result["fixes"]] == result["hints"]
    (edit,) = result["fixes"][0]["edits"]
    assert (edit["source"], edit["line"], edit["field"].rpartition(".")[2]) == ("big.yaml", 10, "cpu")
