"""Whatever kubectl accepts as a way into a cluster is accepted, and means what it means there."""

from __future__ import annotations

import json
import sys
import threading
from base64 import b64encode
from pathlib import Path

import pytest
from kubernetes.config import incluster_config

from schedctl.errors import ClusterError, UsageError
from schedctl.live.connections import Connection
from schedctl.live.kubeconfigs import Access
from tests.live.servers import Cluster, Reply, start_proxy, status


def requests_of(server, access):
    """The last of the requests that a server gets when its version is read."""
    Connection.open(access).get("/version")
    return server.requests[-1]


def plugin(tmp_path, status, *, version="client.authentication.k8s.io/v1", code=0, stderr="", **fields):
    """The exec entry of a user, whose plugin prints these credentials and counts its runs."""
    script = tmp_path / "plugin"
    answer = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
    script.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"open({str(tmp_path / 'runs')!r}, 'a').write(os.environ['KUBERNETES_EXEC_INFO'] + '\\n')\n"
        f"print({stderr!r}, file=sys.stderr)\n"
        f"print({answer!r}.replace('<run>', str(len(open({str(tmp_path / 'runs')!r}).readlines()))))\n"
        f"sys.exit({code})\n"
    )
    script.chmod(0o755)
    return {"exec": {"apiVersion": version, "command": str(script), "interactiveMode": "Never", **fields}}


def runs(tmp_path):
    return [json.loads(line) for line in (tmp_path / "runs").read_text().splitlines()]


def test_token_of_a_user_is_sent(serve, kubeconfig):
    server = serve(Cluster())
    request = requests_of(server, Access(kubeconfig=kubeconfig(server.url, user={"token": "t0k"})))
    assert request.header("Authorization") == "Bearer t0k"
    assert request.header("Accept") == "application/json"
    assert request.header("User-Agent").startswith("schedctl/")


def test_a_token_file_is_relative_to_the_kubeconfig_and_wins_over_a_token(serve, kubeconfig, tmp_path):
    server = serve(Cluster())
    (tmp_path / "token").write_text("from-a-file\n")
    path = kubeconfig(server.url, user={"tokenFile": "token", "token": "written"})
    assert requests_of(server, Access(kubeconfig=path)).header("Authorization") == "Bearer from-a-file"


def test_token_file_is_reread_after_a_401(serve, kubeconfig, tmp_path):
    def answer(request):
        if request.header("Authorization") == "Bearer new":
            return Reply({})
        (tmp_path / "token").write_text("new")
        return status(401, "Unauthorized")

    server = serve(answer)
    (tmp_path / "token").write_text("old")
    requests_of(server, Access(kubeconfig=kubeconfig(server.url, user={"tokenFile": "token"})))
    assert [request.header("Authorization") for request in server.requests] == ["Bearer old", "Bearer new"]


def test_basic_authentication(serve, kubeconfig):
    server = serve(Cluster())
    path = kubeconfig(server.url, user={"username": "me", "password": "pass"})
    assert (
        requests_of(server, Access(kubeconfig=path)).header("Authorization")
        == f"Basic {b64encode(b'me:pass').decode()}"
    )


@pytest.mark.parametrize("where", ["data", "files"])
def test_client_certificate_of_a_user_is_sent(serve, kubeconfig, authority, tmp_path, where):
    server = serve(Cluster(), tls=True)
    mine = authority.issue_cert("me@example.com", common_name="me")
    certificate = b"".join(blob.bytes() for blob in mine.cert_chain_pems)
    parts = {
        "certificate-authority": authority.cert_pem.bytes(),
        "client-certificate": certificate,
        "client-key": mine.private_key_pem.bytes(),
    }
    if where == "data":
        fields = {f"{key}-data": b64encode(value).decode() for key, value in parts.items()}
    else:
        (tmp_path / "certs").mkdir()
        for key, value in parts.items():
            (tmp_path / "certs" / key).write_bytes(value)
        fields = {key: f"certs/{key}" for key in parts}
    user = {key: value for key, value in fields.items() if key.startswith("client")}
    cluster = {key: value for key, value in fields.items() if key.startswith("certificate")}
    assert requests_of(server, Access(kubeconfig=kubeconfig(server.url, user=user, **cluster))).certificate == "me"


def test_tls_server_name_overrides_the_host_name(serve, kubeconfig, authority):
    server = serve(Cluster(), tls=True, names=("kubernetes.default",))
    trust = {"certificate_authority_data": b64encode(authority.cert_pem.bytes()).decode()}
    with pytest.raises(ClusterError, match="is for another name"):
        requests_of(server, Access(kubeconfig=kubeconfig(server.url, **trust)))
    path = kubeconfig(server.url, **trust, tls_server_name="kubernetes.default")
    assert requests_of(server, Access(kubeconfig=path)).path == "/version"


def test_unknown_authority_is_rejected_unless_insecure_skip_tls_verify(serve, kubeconfig):
    server = serve(Cluster(), tls=True)
    with pytest.raises(ClusterError, match="signed by an unknown authority"):
        requests_of(server, Access(kubeconfig=kubeconfig(server.url)))
    assert server.requests == []
    path = kubeconfig(server.url, insecure_skip_tls_verify=True)
    assert requests_of(server, Access(kubeconfig=path)).path == "/version"


def test_impersonation_by_flags_sends_a_header_for_each_group(serve, kubeconfig):
    server = serve(Cluster())
    path = kubeconfig(server.url, user={"as": "somebody", "as-groups": ["x"]})
    request = requests_of(server, Access(kubeconfig=path, user="jane", groups=("dev", "ops, all")))
    assert request.header("Impersonate-User") == "jane"
    assert request.all("Impersonate-Group") == ["dev", "ops, all"]


def test_impersonation_by_the_kubeconfig(serve, kubeconfig):
    server = serve(Cluster())
    user = {"as": "jürgen", "as-groups": ["dev"], "as-uid": "7", "as-user-extra": {"Reason/x": ["a", "b"]}}
    request = requests_of(server, Access(kubeconfig=kubeconfig(server.url, user=user)))
    assert request.header("Impersonate-User").encode("latin-1").decode() == "jürgen"
    assert request.all("Impersonate-Group") == ["dev"]
    assert request.header("Impersonate-Uid") == "7"
    assert request.all("Impersonate-Extra-reason%2fx") == ["a", "b"]


def test_impersonating_groups_requires_a_user(kubeconfig):
    with pytest.raises(UsageError, match="needs a user"):
        Connection.open(Access(kubeconfig=kubeconfig("http://x"), groups=("dev",)))


def test_credential_plugin_returns_a_token(serve, kubeconfig, tmp_path):
    server = serve(Cluster())
    user = plugin(tmp_path, {"token": "t-<run>"}, env=[{"name": "A", "value": "b"}])
    assert (
        requests_of(server, Access(kubeconfig=kubeconfig(server.url, user=user))).header("Authorization")
        == "Bearer t-1"
    )
    assert runs(tmp_path)[0]["spec"] == {"interactive": False}


def test_credential_plugin_runs_again_after_a_401(serve, kubeconfig, tmp_path):
    server = serve(lambda r: Reply({}) if r.header("Authorization") == "Bearer t-2" else status(401, "Unauthorized"))
    requests_of(server, Access(kubeconfig=kubeconfig(server.url, user=plugin(tmp_path, {"token": "t-<run>"}))))
    assert len(runs(tmp_path)) == 2


def test_credential_plugin_runs_again_only_once(serve, kubeconfig, tmp_path):
    server = serve(lambda request: status(401, "Unauthorized"))
    with pytest.raises(ClusterError, match=r"credentials are not accepted \(401\)"):
        requests_of(server, Access(kubeconfig=kubeconfig(server.url, user=plugin(tmp_path, {"token": "t"}))))
    assert len(server.requests) == 2


def test_credential_plugin_runs_again_when_its_token_expires(serve, kubeconfig, tmp_path):
    server = serve(Cluster())
    user = plugin(tmp_path, {"token": "t-<run>", "expirationTimestamp": "2020-01-01T00:00:00Z"})
    assert (
        requests_of(server, Access(kubeconfig=kubeconfig(server.url, user=user))).header("Authorization")
        == "Bearer t-2"
    )


def test_credential_plugin_returns_a_certificate_and_sees_cluster_info(serve, kubeconfig, authority, tmp_path):
    server = serve(Cluster(), tls=True)
    mine = authority.issue_cert("me@example.com", common_name="me")
    credentials = {
        "token": "t",
        "clientCertificateData": mine.cert_chain_pems[0].bytes().decode(),
        "clientKeyData": mine.private_key_pem.bytes().decode(),
    }
    trust = b64encode(authority.cert_pem.bytes()).decode()
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    user = plugin(tmp_path, credentials, provideClusterInfo=True)
    path = kubeconfig(server.url, user=user, certificate_authority_data=trust, extensions=[extension])
    request = requests_of(server, Access(kubeconfig=path))
    assert (request.certificate, request.header("Authorization")) == ("me", "Bearer t")
    cluster_info = runs(tmp_path)[0]["spec"]["cluster"]
    assert cluster_info == {"server": server.url, "certificate-authority-data": trust, "config": {"audience": "x"}}


@pytest.mark.parametrize(
    ("status", "fields", "message", "hint"),
    [
        pytest.param({}, {"code": 3, "stderr": "a\nlog in first"}, "exit status 3: log in first", "", id="fails"),
        pytest.param({}, {}, "neither a token nor a certificate", "log in", id="gives nothing"),
        pytest.param({"clientCertificateData": "x"}, {}, "neither a token nor", "", id="a certificate without a key"),
        pytest.param({"token": "t"}, {"interactiveMode": "Always"}, "not a terminal", "log in", id="wants to ask"),
        pytest.param(
            {"token": "t"}, {"interactiveMode": ""}, "interactiveMode", "set interactiveMode", id="says nothing of it"
        ),
        pytest.param(
            {"token": "t"},
            {"command": "no-such-plugin", "installHint": "brew install\n  no-such-plugin"},
            "no-such-plugin is not installed",
            "brew install no-such-plugin",
            id="is not there",
        ),
        pytest.param(
            {"token": "t"},
            {"version": "client.authentication.k8s.io/v1alpha1"},
            "apiVersion",
            "update",
            id="is too old",
        ),
        pytest.param(
            {"token": "t", "expirationTimestamp": "soon"},
            {},
            "expirationTimestamp that is not a time",
            "update",
            id="expires some day",
        ),
    ],
)
def test_failing_credential_plugin(kubeconfig, tmp_path, status, fields, message, hint):
    with pytest.raises(ClusterError) as raised:
        Connection.open(Access(kubeconfig=kubeconfig("http://x", user=plugin(tmp_path, status, **fields))))
    assert message in str(raised.value)
    assert hint in raised.value.hint


def test_failing_credential_plugin_runs_once_for_concurrent_requests(serve, kubeconfig, tmp_path):
    server = serve(lambda request: status(401, "Unauthorized"))
    user = plugin(tmp_path, {"token": "t"})
    connection = Connection.open(Access(kubeconfig=kubeconfig(server.url, user=user)))
    script = Path(user["exec"]["command"])
    script.write_text(script.read_text().replace("sys.exit(0)", "sys.exit(3)"))
    faults = []

    def ask():
        with pytest.raises(ClusterError) as raised:
            connection.get("/x")
        faults.append(str(raised.value))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ask()
    assert len(runs(tmp_path)) == 2
    assert len(faults) == 7
    assert all("failed with exit status 3" in fault for fault in faults)


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"as": "a", "as-groups": "text"}, "as-groups: expected a list"),
        ({"as": "a", "as-groups": [["dev"]]}, "as-groups: expected a list of text"),
        ({"as": "a", "as-user-extra": ["x"]}, "as-user-extra: expected a mapping"),
        ({"as": "a", "as-user-extra": {"x": "text"}}, "as-user-extra.x: expected a list of text"),
        ({"as": 7}, "as: expected text"),
        ({"token": True}, "token: expected text"),
        ({"token": "two\nlines"}, "not a token"),
        ({"token": "\ud800"}, "token: expected text"),
        ({"exec": True}, "exec: expected a mapping"),
    ],
    ids=str,
)
def test_user_field_of_the_wrong_type_is_named(kubeconfig, fields, at):
    with pytest.raises(ClusterError) as raised:
        Connection.open(Access(kubeconfig=kubeconfig("http://x", user=fields)))
    assert at in str(raised.value)


@pytest.mark.parametrize(
    ("env", "at"),
    [
        ([{"name": "A", "value": "\ud800"}], "env[0]: value: expected text"),
        ([{"name": "A", "value": "a\0b"}], "env[0]: value: expected text"),
        ([{"name": "A", "value": 7}], "env[0]: expected a name and a value"),
        (["A=b"], "env[0]: expected a name and a value"),
    ],
    ids=str,
)
def test_plugin_env_of_the_wrong_type_is_named(kubeconfig, tmp_path, env, at):
    user = plugin(tmp_path, {"token": "t"}, env=env)
    with pytest.raises(ClusterError) as raised:
        Connection.open(Access(kubeconfig=kubeconfig("http://x", user=user)))
    assert at in str(raised.value)


@pytest.mark.parametrize("fields", [{"extensions": True}, {"disable_compression": "yes"}, {"proxy_url": True}], ids=str)
def test_cluster_field_of_the_wrong_type_is_named(kubeconfig, fields):
    (key,) = (each.replace("_", "-") for each in fields)
    with pytest.raises(ClusterError, match=f'cluster "here": {key}: expected'):
        Connection.open(Access(kubeconfig=kubeconfig("http://x", **fields)))


def test_credential_plugin_that_prints_deeply_nested_json(kubeconfig, tmp_path):
    user = plugin(tmp_path, {"token": "t"})
    script = Path(user["exec"]["command"])
    script.write_text(f"#!{sys.executable}\nprint('[' * 100_000)\n")
    with pytest.raises(ClusterError, match="printed no ExecCredential"):
        Connection.open(Access(kubeconfig=kubeconfig("http://x", user=user)))


def test_a_credential_plugin_that_sleeps_is_given_up_after_the_request_timeout(kubeconfig, tmp_path):
    script = tmp_path / "sleepy"
    script.write_text(f"#!/bin/sh\nsleep 60\ntouch {tmp_path}/awake\n")
    script.chmod(0o755)
    user = {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(script), "interactiveMode": "Never"}
    }
    with pytest.raises(ClusterError, match=r"the credential plugin sleepy gave no credentials within 0\.2 s") as raised:
        Connection.open(Access(kubeconfig=kubeconfig("http://x", user=user), timeout=0.2))
    assert not (tmp_path / "awake").exists()
    assert "--request-timeout" in raised.value.hint


JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("stderr", "fields"),
    [
        pytest.param("token t0ken-of-mine is stale", {}, id="the token that it printed"),
        pytest.param(f"refused: {JWT}", {}, id="any JSON web token"),
        pytest.param(
            "password hunter2 is wrong", {"env": [{"name": "SSO_PASSWORD", "value": "hunter2"}]}, id="what it was given"
        ),
    ],
)
def test_no_secret_is_shown_in_what_a_failing_credential_plugin_says(kubeconfig, tmp_path, stderr, fields):
    user = plugin(tmp_path, {"token": "t0ken-of-mine"}, code=1, stderr=stderr, **fields)
    with pytest.raises(ClusterError, match=r"failed with exit status 1: .*\[hidden\]") as raised:
        Connection.open(Access(kubeconfig=kubeconfig("http://x", user=user)))
    assert not any(secret in str(raised.value) for secret in ("t0ken-of-mine", JWT, "hunter2"))


def test_output_of_a_credential_plugin_is_never_shown(kubeconfig, tmp_path):
    user = plugin(tmp_path, {"token": "s3cret", "expirationTimestamp": "soon"})
    script = Path(user["exec"]["command"])
    script.write_text(script.read_text().replace('"kind"', '"sort"'))
    with pytest.raises(ClusterError) as raised:
        Connection.open(Access(kubeconfig=kubeconfig("http://x", user=user)))
    assert "s3cret" not in f"{raised.value} {raised.value.hint}"


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
def test_proxy_url_applies_to_every_host(serve, kubeconfig, authority, monkeypatch, scheme):
    monkeypatch.setenv("NO_PROXY", "*")
    server = serve(Cluster(), tls=True, names=("api.example",))
    trust = b64encode(authority.cert_pem.bytes()).decode()
    with start_proxy() as proxy:
        url = f"https://api.example:{server.port}"
        named = f"{scheme}://127.0.0.1:{proxy.port}"
        requests_of(server, Access(kubeconfig=kubeconfig(url, certificate_authority_data=trust, proxy_url=named)))
    assert proxy.hosts == ["api.example"]


def test_proxy_with_basic_authentication(serve, kubeconfig, authority):
    server = serve(Cluster(), tls=True, names=("api.example",))
    trust = b64encode(authority.cert_pem.bytes()).decode()
    with start_proxy() as proxy:
        named = f"http://me:p%40ss@127.0.0.1:{proxy.port}"
        path = kubeconfig(f"https://api.example:{server.port}", certificate_authority_data=trust, proxy_url=named)
        requests_of(server, Access(kubeconfig=path))
    basic = b64encode(b"me:p@ss").decode()
    assert f"proxy-authorization: basic {basic}".lower() in [line.lower() for line in proxy.heads[0]]


def test_environment_proxy_skips_localhost_and_no_proxy(serve, kubeconfig, authority, monkeypatch):
    server = serve(Cluster(), tls=True, names=("api.example", "127.0.0.1"))
    trust = b64encode(authority.cert_pem.bytes()).decode()
    with start_proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        url = f"https://api.example:{server.port}"
        requests_of(server, Access(kubeconfig=kubeconfig(url, certificate_authority_data=trust)))
        requests_of(server, Access(kubeconfig=kubeconfig(server.url, certificate_authority_data=trust)))
        monkeypatch.setenv("NO_PROXY", ".example")
        with pytest.raises(ClusterError, match=r"api\.example"):
            requests_of(server, Access(kubeconfig=kubeconfig(url, certificate_authority_data=trust)))
    assert proxy.hosts == ["api.example"]


def test_disable_compression_turns_gzip_off(serve, kubeconfig):
    server = serve(Cluster())
    path = kubeconfig(server.url, disable_compression=True)
    assert requests_of(server, Access(kubeconfig=path)).header("Accept-Encoding") in ("", "identity")


def test_a_server_may_have_a_path_and_no_scheme(serve, kubeconfig):
    server = serve(lambda request: Reply({}))
    address = server.url.removeprefix("http://")
    assert (
        requests_of(server, Access(kubeconfig=kubeconfig(f"{address}/clusters/c-1/"))).path == "/clusters/c-1/version"
    )


def test_the_first_of_several_kubeconfigs_decides(serve, kubeconfig, tmp_path, monkeypatch):
    near, far = serve(Cluster()), serve(Cluster())
    first = kubeconfig(near.url, name="one/config", user={"tokenFile": "token"})
    second = kubeconfig(far.url, name="two/config", user={"token": "second"})
    (tmp_path / "one/token").write_text("first")
    tree = json.loads(Path(second).read_text())
    tree["contexts"].append({"name": "other", "context": {"cluster": "there", "user": "me", "namespace": "shop"}})
    tree["clusters"].append({"name": "there", "cluster": {"server": far.url}})
    tree["current-context"] = "other"
    Path(second).write_text(json.dumps(tree))
    missing, empty = tmp_path / "missing", tmp_path / "empty"
    empty.write_text("# nothing\n")
    monkeypatch.setenv("KUBECONFIG", f"{missing}:{empty}:{first}:{second}")

    connection = Connection.open(Access())
    assert (connection.name, connection.namespace) == ("context test", "default")
    assert requests_of(near, Access()).header("Authorization") == "Bearer first"
    other = Connection.open(Access(context="other"))
    assert (other.name, other.namespace) == ("context other", "shop")
    assert requests_of(far, Access(context="other")).header("Authorization") == "Bearer first"


def test_default_kubeconfig_is_in_the_home_folder(serve, kubeconfig):
    server = serve(Cluster())
    kubeconfig(server.url, name="home/.kube/config")
    assert requests_of(server, Access()).path == "/version"


def test_in_cluster_service_account(serve, authority, tmp_path, monkeypatch):
    server = serve(Cluster(), tls=True)
    account = tmp_path / "serviceaccount"
    account.mkdir()
    (account / "token").write_text("of-the-pod\n")
    (account / "ca.crt").write_bytes(authority.cert_pem.bytes())
    (account / "namespace").write_text("jobs\n")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(account / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(account / "ca.crt"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
    connection = Connection.open(Access())
    assert (connection.name, connection.namespace) == ("in-cluster", "jobs")
    connection.get("/version")
    assert server.requests[-1].header("Authorization").lower() == "bearer of-the-pod"


@pytest.mark.parametrize(
    ("text", "access", "message", "hint"),
    [
        pytest.param("a: [b\n", {}, ":2: the kubeconfig is not YAML", "kubectl config view", id="no YAML"),
        pytest.param("[]", {}, "expected a mapping", "", id="no mapping"),
        pytest.param("contexts: 3", {}, "contexts: expected a list", "", id="no list"),
        pytest.param("contexts: [3]", {}, "contexts[0]: expected a mapping", "", id="no entry"),
        pytest.param(
            "contexts: [{name: 3}]", {}, "contexts[0]: name: expected text", "quotes", id="a number for a name"
        ),
        pytest.param("kind: Config", {}, "no context in", "--kubeconfig FILE", id="no contexts"),
        pytest.param(
            "contexts: [{name: prod}]", {}, "no current context", "`--context NAME`: prod", id="no current context"
        ),
        pytest.param(
            "{contexts: [{name: production}], current-context: x}",
            {"context": "prodution"},
            'context "prodution" not found',
            "did you mean production?",
            id="no such context",
        ),
        pytest.param(
            "{contexts: [{name: a}], current-context: b}",
            {},
            "named by current-context",
            "there are a",
            id="a stale one",
        ),
        pytest.param("{contexts: [{name: a}], current-context: a}", {}, "names no cluster", "", id="no cluster"),
        pytest.param(
            "{contexts: [{name: a, context: {cluster: b}}], clusters: [{name: bb}], current-context: a}",
            {},
            'names the cluster "b", which does not exist',
            "did you mean bb?",
            id="no such cluster",
        ),
        pytest.param(
            "{contexts: [{name: a, context: {cluster: b, user: u}}], clusters: [{name: b}], current-context: a}",
            {},
            'names the user "u"',
            "there are none",
            id="no such user",
        ),
        pytest.param(
            "{contexts: [{name: a, context: {cluster: b}}], clusters: [{name: b}], current-context: a}",
            {},
            "names no server",
            "",
            id="no server",
        ),
        pytest.param(
            "{contexts: [{name: a, context: {cluster: b, user: u}}], clusters: [{name: b, cluster: {server: 'http://x'}}],"
            " users: [{name: u, user: {token: 123}}], current-context: a}",
            {},
            'user "u": token: expected text',
            "quotes",
            id="a number for a token",
        ),
        pytest.param(
            "{contexts: [{name: a, context: {cluster: b, user: u}}], clusters: [{name: b, cluster: {server: 'http://x'}}],"
            " users: [{name: u, user: {auth-provider: {name: gcp}}}], current-context: a}",
            {},
            'auth provider "gcp"',
            "credential plugin",
            id="an auth provider of old",
        ),
        pytest.param(
            "{contexts: [{name: a, context: {cluster: b, user: u}}], clusters: [{name: b, cluster: {server: 'https://x'}}],"
            " users: [{name: u, user: {client-certificate: nowhere.crt}}], current-context: a}",
            {},
            "nowhere.crt",
            "create the file",
            id="a certificate that is not there",
        ),
        pytest.param(
            "{contexts: [{name: a, context: {cluster: b, user: u}}], clusters: [{name: b, cluster: {server: 'https://x'}}],"
            " users: [{name: u, user: {tokenFile: nowhere}}], current-context: a}",
            {},
            "the token file",
            "",
            id="a token file that is not there",
        ),
    ],
)
def test_invalid_kubeconfig_is_an_error(tmp_path, text, access, message, hint):
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ClusterError) as raised:
        Connection.open(Access(kubeconfig=str(path), **access))
    assert message in str(raised.value)
    assert hint in raised.value.hint


def test_missing_kubeconfig_names_the_searched_paths(tmp_path, monkeypatch):
    with pytest.raises(ClusterError, match=r"no kubeconfig in .*home/\.kube/config") as raised:
        Connection.open(Access())
    assert "`-f FILE`" in raised.value.hint
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    with pytest.raises(ClusterError, match=r"no kubeconfig in .*nowhere"):
        Connection.open(Access())
    with pytest.raises(ClusterError, match="cannot be read: no such file"):
        Connection.open(Access(kubeconfig="nowhere"))


@pytest.mark.parametrize("key", ["client-certificate", "client-key"])
def test_missing_certificate_file_is_named(kubeconfig, tmp_path, key):
    path = kubeconfig("https://127.0.0.1:1", user={key: "lost.pem"})
    with pytest.raises(ClusterError, match=f"lost.pem, its {key}, cannot be read: no such file or directory"):
        Connection.open(Access(kubeconfig=path))
