"""What people get wrong on their first day: YAML, options and names; each is one error that says what to type."""

from __future__ import annotations

import pytest

SHOP = ("-f", "fixtures/clusters/shop")
HEAD = "apiVersion: v1\nkind: Pod\nmetadata:\n"
SPEC = HEAD + "  name: a\nspec:\n"


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        pytest.param(f"{HEAD}\tname: a\n", "4:1", "indent with spaces, not with tabs", id="a tab"),
        pytest.param(f"{HEAD}  name: a\n namespace: b\n", "5:2", "keys of one mapping begin in the same", id="indent"),
        pytest.param(f"{HEAD}  name: a: b\n", "4:10", "a value that contains `: ` has to be quoted", id="two colons"),
        pytest.param(f"{HEAD}  name:a\n  namespace: b\n", "5:12", "a space follows their colon", id="no space"),
        pytest.param(f"{HEAD}  name: @a\n", "4:9", "text that begins with this character has to be quoted", id="an @"),
        pytest.param(f"{HEAD}  name: *a\n", "4:9", "text that begins with * has to be quoted", id="an asterisk"),
        pytest.param(
            f'{HEAD}  name: "a\nspec: {{}}\n', "6:1", "the quote that opens in line 4 is not closed", id="an open quote"
        ),
        pytest.param(
            f"{SPEC}  containers: [{{name: a, image: b}}\n",
            "7:1",
            "the [ of line 6 is not closed",
            id="an open bracket",
        ),
        pytest.param(
            f"{SPEC}  nodeSelector: {{a: b\nx: y\n", "7:2", "the { of line 6 is not closed", id="an open brace"
        ),
        pytest.param(
            f"{SPEC}  containers: - name: a\n", "6:15", "a list begins on the line below its key", id="a list too early"
        ),
        pytest.param(
            f'{SPEC}  nodeName: "a\\.b"\n', "6:15", 'in "double quotes" a backslash is written twice', id="a backslash"
        ),
        pytest.param(f"{HEAD}  name: {{{{ .Values.name }}}}\n", "4:10", "render it first", id="a template"),
    ],
)
def test_text_that_is_no_yaml(schedctl, text, place, hint):
    ended = schedctl("simulate", "-", *SHOP, stdin=text)
    first, *rest = ended.err.splitlines()
    assert (ended.code, ended.out) == (3, "")
    assert first.startswith(f"error: <stdin>:{place}: ")
    assert hint in "\n".join(rest)


def test_a_template_that_can_be_read_as_yaml_is_to_be_rendered_first(schedctl):
    text = f"{SPEC}  nodeSelector: {{disk: '{{{{ .Values.disk }}}}'}}\n  containers: [{{name: a, image: b}}]\n"
    ended = schedctl("simulate", "-", *SHOP, stdin=text)
    assert ended.code == 3
    assert "render it first" in ended.err.splitlines()[1]


def test_a_configuration_that_is_no_yaml(schedctl, tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text("apiVersion: v1\n\tkind: x\n")
    ended = schedctl("explain", "--all-pending", "--scheduler-config", str(file), *SHOP)
    assert ended.code == 2
    assert "hint: indent with spaces, not with tabs" in ended.err


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        pytest.param(("--allpending",), "no such option: --allpending", "did you mean `--all-pending`?", id="close"),
        pytest.param(("--bogus",), "no such option: --bogus", "`schedctl explain --help` lists the options", id="far"),
        pytest.param(("--limit", "x"), "invalid value for '--limit': expected a whole number", "--help", id="a word"),
        pytest.param(("--limit", "-3"), "invalid value for '--limit': expected 0 or more", "--help", id="negative"),
        pytest.param(("pods", "-l", "app=web"), "no pods with these labels", "some in namespace shop", id="elsewhere"),
        pytest.param(("configmap/web",), "ConfigMap objects have no pods", "kinds with pods: pod, deploy", id="a kind"),
        pytest.param(("ing", "web"), "Ingress objects have no pods", "kinds with pods: pod, deploy", id="two words"),
        pytest.param(("secrets",), "Secret objects have no pods", "kinds with pods: pod, deploy", id="a kind alone"),
        pytest.param(("svc/wbe", "-n", "shop"), 'no Service "wbe"', "did you mean web?", id="no such Service"),
        pytest.param(("node", "general-a9"), 'node "general-a9" not found', "general-a-1", id="no such node"),
        pytest.param(
            ("shop/web-7d9c6b5f4d-jbljm", "--node", "nope"), 'node "nope" not', "the nodes are", id="nor here"
        ),
    ],
)
def test_options_and_names_that_do_not_exist(schedctl, arguments, error, hint):
    ended = schedctl("explain", *arguments, *SHOP)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {error}")
    assert f"hint: {hint}" in ended.err or hint in ended.err.partition("hint: ")[2]


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("explain", "no pod or workload given"),
        ("bind", "no pod given"),
        ("watch", "watch takes exactly one pod or pod group"),
        ("drain", "no node given"),
        ("capacity", "no pod or workload given"),
        ("simulate", "no manifests given"),
    ],
)
def test_nothing_asked_is_told_before_a_cluster_is_looked_for(schedctl, command, error):
    ended = schedctl(command)
    assert (ended.code, ended.err.splitlines()[0]) == (2, f"error: {error}")


def test_a_namespace_without_any_pods_may_be_misspelt(schedctl):
    ended = schedctl("explain", "--all-pending", "-n", "shpo", *SHOP)
    expected = "no pending pods in namespace shpo, which has no pods at all\nhint: did you mean shop?\n"
    assert (ended.code, ended.err) == (0, expected)


SERVICE = "\n---\napiVersion: v1\nkind: Service\nmetadata: {name: front, namespace: shop}\nspec: {SELECTOR}\n"


def test_a_service_stands_for_the_pods_that_it_selects(schedctl):
    of_service = schedctl("explain", "svc/cart", "-n", "shop", "-o", "jsonpath={.results[*].pods}", *SHOP)
    by_label = schedctl("explain", "pods", "-l", "app=cart", "-n", "shop", "-o", "jsonpath={.results[*].pods}", *SHOP)
    assert (of_service.code, of_service.out) == (0, by_label.out)
    assert of_service.out


@pytest.mark.parametrize(
    ("selector", "error"),
    [
        pytest.param("selector: {app: frnt}", "no pod there has the labels app=frnt", id="a selector of nothing"),
        pytest.param("", "it has no selector", id="none"),
    ],
)
def test_a_service_that_selects_no_pods(schedctl, selector, error):
    ended = schedctl(
        "explain", "svc/front", *SHOP, "-f", "-", "-n", "shop", stdin=SERVICE.replace("SELECTOR", selector)
    )
    assert (ended.code, ended.err.splitlines()[0]) == (2, f"error: Service shop/front selects no pods: {error}")


def test_a_wrong_number_may_stand_in_the_environment(schedctl, monkeypatch):
    monkeypatch.setenv("SCHEDCTL_LIMIT", "x")
    ended = schedctl("explain", "--all-pending", *SHOP)
    assert ended.err.startswith("error: invalid value for '--limit' or SCHEDCTL_LIMIT: expected a whole number\n")


def test_capacity_says_of_pods_that_the_api_server_would_reject_that_it_would(schedctl, tmp_path):
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        "spec: {priorityClassName: hgih, containers: [{name: c, image: c}]}\n"
    )
    (tmp_path / "node.yaml").write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n"
        'status: {allocatable: {cpu: "1", memory: 1Gi, pods: "3"}}\n'
    )
    ended = schedctl("capacity", "--like", str(tmp_path / "pod.yaml"), "-f", str(tmp_path / "node.yaml"))
    assert "note: the API server would reject such a pod: no PriorityClass with name hgih was found" in ended.out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param(("schema", "--write"), "option '--write' requires an argument", id="a value is missing"),
        pytest.param(
            ("explain", "--all-pending=x"), "option '--all-pending' does not take a value", id="a value too many"
        ),
    ],
)
def test_options_and_their_values(schedctl, arguments, error):
    ended = schedctl(*arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {error}\n")
