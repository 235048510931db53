"""What is read is read patiently, what is changed is changed once, and what goes wrong is said with a next step."""

from __future__ import annotations

import socket
import threading

import pytest
import trustme

from schedctl.errors import ClusterError
from schedctl.live import connections, listing
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused, Unanswered, rule
from schedctl.live.kubeconfigs import Access
from schedctl.live.pages import pages
from tests.live.servers import Reply, status

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def to(serve, kubeconfig):
    """A server that gives these replies in turn, the last one again and again, and a connection to it."""

    def start(*replies, **access):
        waiting = list(replies)
        server = serve(lambda request: waiting.pop(0) if len(waiting) > 1 else waiting[0])
        return server, Connection.open(Access(kubeconfig=kubeconfig(server.url), **access))

    return start


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("chunked", [False, True], ids=["of known length", "in chunks"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_gzip_is_decompressed(to, packed, chunked):
    _, connection = to(Reply({"a": "b" * 200_000}, packed=packed, chunked=chunked, headers={"X-Y": "z"}))
    answer = connection.get("/version", {"labelSelector": "a=b,c", "continue": "x/y="})
    assert answer.body == b'{"a": "' + b"b" * 200_000 + b'"}'
    assert answer.headers["x-y"] == "z"


def test_query_parameters_are_encoded(to):
    server, connection = to(Reply({}))
    connection.get("/x", {"continue": "a/b=&?", "limit": "1"})
    assert server.requests[0].query == {"continue": "a/b=&?", "limit": "1"}


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(status(429, "TooManyRequests", Retry_After="0"), id="too many requests"),
        pytest.param(status(429, "TooManyRequests"), id="too many requests, without saying when to come back"),
        pytest.param(status(500, "InternalError", "leader changed", Retry_After="0"), id="an error that passes"),
        pytest.param(status(503, "ServiceUnavailable"), id="a server that is starting"),
        pytest.param(status(504, "Timeout"), id="a server that is slow"),
        pytest.param(Reply(b"<html>", 502, {"Content-Type": "text/html"}), id="a load balancer without a server"),
        pytest.param(Reply(reset=True), id="a reset connection"),
        pytest.param(Reply({"a": "b" * 5000}, cut=10, packed=False), id="an answer that breaks off"),
        pytest.param(Reply({"a": "b" * 5000}, cut=10, chunked=True, packed=False), id="a chunk that breaks off"),
        pytest.param(Reply({"a": "b" * 5000}, cut=9, chunked=True), id="a packed chunk that breaks off"),
        pytest.param(Reply({"a": "b" * 5000}, cut=0), id="an answer without a body"),
    ],
)
class TestPatience:
    """With an answer that may be another one in a moment."""

    def test_reads_are_retried(self, to, bad):
        server, connection = to(bad, bad, Reply({"ok": True}))
        assert connection.get("/x").body == b'{"ok": true}'
        assert len(server.requests) == 3

    def test_retries_end(self, to, bad):
        server, connection = to(bad)
        with pytest.raises(ClusterError) as raised:
            connection.get("/x")
        assert raised.value.hint
        assert "\n" not in str(raised.value)
        assert len(server.requests) > 1

    def test_writes_are_retried_only_on_retry_after(self, to, bad):
        server, connection = to(bad, Reply({"ok": True}))
        if bad.status == 429 and bad.headers:
            connection.send("POST", "/x", {"a": 1})
            assert [request.body for request in server.requests] == [b'{"a":1}'] * 2
            return
        with pytest.raises(ClusterError) as raised:
            connection.send("POST", "/x", {"a": 1})
        assert len(server.requests) == 1
        if not isinstance(raised.value, Refused):
            assert isinstance(raised.value, Unanswered)
            assert raised.value.sent
            assert "it is unknown whether POST /x took effect" in str(raised.value)


def test_retry_after_beyond_the_timeout_fails_at_once(to):
    server, connection = to(status(429, "TooManyRequests", "come back tomorrow", Retry_After="86400"))
    with pytest.raises(ClusterError, match=r"come back tomorrow \(429\)"):
        connection.get("/x")
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [400, 403, 404, 409, 410, 422, 500])
def test_refusals_are_not_retried(to, code):
    server, connection = to(status(code, "Reason", "because"))
    with pytest.raises(Refused) as raised:
        connection.get("/api/v1/pods")
    assert (raised.value.code, raised.value.reason, raised.value.text) == (code, "Reason", "because")
    assert len(server.requests) == 1


def test_unsent_write_is_known_not_done(kubeconfig):
    connection = Connection.open(Access(kubeconfig=kubeconfig(f"http://127.0.0.1:{free_port()}")))
    with pytest.raises(Unanswered, match="refuses the connection") as raised:
        connection.send("POST", "/x", {})
    assert not raised.value.sent


def test_write_is_resent_with_renewed_credentials(serve, kubeconfig, tmp_path):
    (tmp_path / "token").write_text("old")

    def answer(request):
        (tmp_path / "token").write_text("new")
        return Reply({}) if request.header("Authorization") == "Bearer new" else status(401, "Unauthorized")

    server = serve(answer)
    connection = Connection.open(Access(kubeconfig=kubeconfig(server.url, user={"tokenFile": "token"})))
    connection.send("PATCH", "/x", {}, {"dryRun": "All"}, "application/merge-patch+json")
    assert [request.header("Content-Type") for request in server.requests] == ["application/merge-patch+json"] * 2


@pytest.mark.parametrize(
    "reply", [Reply({}, silence=2), Reply({"a": 1}, drip=0.2, packed=False)], ids=["silent", "slow"]
)
def test_request_timeout(to, reply):
    server, connection = to(reply, timeout=0.5)
    with pytest.raises(Unanswered) as raised:
        connection.get("/x")
    assert "--request-timeout" in raised.value.hint
    assert len(server.requests) == 1


def test_watch_yields_lines_as_they_arrive(to):
    _, connection = to(Reply(b'{"a":1}\n{"b":2}\n', chunked=True))
    assert list(connection.stream("/x", {"watch": "1"})) == [b'{"a":1}', b'{"b":2}']


def test_truncated_watch_line_is_dropped(to):
    _, connection = to(Reply(b'{"a":1}\n{"b":2}\n', chunked=True, packed=False, cut=10))
    assert list(connection.stream("/x", {"watch": "1"})) == [b'{"a":1}']


def test_refused_watch_raises(to):
    _, connection = to(status(410, "Expired", "too old"))
    with pytest.raises(Refused, match=r"too old \(410\)"):
        connection.stream("/x", {"watch": "1"})


def test_connection_is_thread_safe(to):
    server, connection = to(Reply({}))
    threads = [threading.Thread(target=connection.get, args=("/x",)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 16


@pytest.mark.parametrize(
    ("reply", "message", "hint"),
    [
        pytest.param(
            Reply(b"<html>Log in</html>", headers={"Content-Type": "text/html; charset=utf-8"}),
            "answered with text/html instead of JSON",
            "login page",
            id="a login page",
        ),
        pytest.param(
            Reply(b"", 302, {"Location": "https://login.example/\n\x1b[31m".replace("\n", "")}),
            "redirect to https://login.example/",
            "login page",
            id="a redirect",
        ),
        pytest.param(
            Reply(b"<html>no</html>", 403, {"Content-Type": "text/html"}),
            "/api/v1/pods is forbidden (403), and not by an API server",
            "a proxy or a firewall",
            id="a firewall",
        ),
        pytest.param(status(401, "Unauthorized"), "the credentials are not accepted (401)", "log in again", id="401"),
        pytest.param(
            status(403, "Forbidden", 'pods is forbidden: User "x" cannot list resource "pods"'),
            'User "x" cannot list resource "pods" (403)',
            '- {apiGroups: [""], resources: ["pods"], verbs: ["list"]}; schedctl-reader of deploy/clusterrole.yaml',
            id="403",
        ),
        pytest.param(
            status(403, "Forbidden", 'pods is forbidden: User "system:anonymous" cannot list resource "pods"'),
            "your credentials were not recognised",
            "log in again",
            id="403 of nobody",
        ),
        pytest.param(
            status(
                403, "Forbidden", 'users "y" is forbidden: User "x" cannot impersonate resource "users" in API group ""'
            ),
            "cannot impersonate",
            '- {apiGroups: [""], resources: ["users"], resourceNames: ["y"], verbs: ["impersonate"]}',
            id="403 of an impersonation",
        ),
        pytest.param(
            status(404, "NotFound", "no such thing"), "/api/v1/pods not found (404)", "an API server?", id="404"
        ),
        pytest.param(status(410, "Expired", "too old"), "too old (410)", "try again", id="410"),
        pytest.param(status(500, "InternalError", "etcd is gone"), "etcd is gone (500)", "has a problem", id="500"),
        pytest.param(Reply(b"oops", 418), "GET /api/v1/pods: HTTP 418 (418)", "try again", id="no words at all"),
        pytest.param(status(400, "Bad", "a\n\tb" + "c" * 2000), "a b" + "c" * 100, "", id="many words, on many lines"),
    ],
)
def test_server_errors_carry_a_hint(to, reply, message, hint):
    _, connection = to(reply)
    with pytest.raises(ClusterError) as raised:
        connection.get("/api/v1/pods")
    assert raised.value.exit_code == 4
    assert message in str(raised.value)
    assert hint in raised.value.hint
    assert len(str(raised.value)) < 700
    assert "\n" not in str(raised.value) + raised.value.hint


NOT_AN_API_SERVER = {
    "a login page": Reply(b"<html>Log in</html>", headers={"Content-Type": "text/html"}),
    "a redirect": Reply(b"", 302, {"Location": "https://login.example/"}),
}


@pytest.mark.parametrize("what", NOT_AN_API_SERVER)
def test_foreign_server_is_not_retried(to, what):
    server, connection = to(Reply({}), NOT_AN_API_SERVER[what])
    connection.get("/version")
    for ask in (
        lambda: connection.get("/x"),
        lambda: connection.stream("/x"),
        lambda: connection.send("POST", "/x", {}),
    ):
        before = len(server.requests)
        with pytest.raises(Unanswered, match="no API server does"):
            ask()
        assert len(server.requests) == before + 1


def test_write_answered_by_a_proxy_may_be_done(to):
    _, connection = to(NOT_AN_API_SERVER["a redirect"])
    with pytest.raises(Unanswered, match="it is unknown whether POST /x took effect") as raised:
        connection.send("POST", "/x", {})
    assert raised.value.sent


SENT = "s3cret-" + "x" * 600
"""A token that is longer than what is shown of a message, so that a cut through it would show a part."""


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(status(403, "Forbidden", f"no rights for {SENT}"), id="a refusal"),
        pytest.param(status(500, "InternalError", f"cannot parse Bearer {SENT}"), id="a fault"),
        pytest.param(Reply({}, 302, {"Location": f"https://login/?token={SENT}"}), id="a redirect"),
        pytest.param(Reply(b"<p>", headers={"Content-Type": f"text/{SENT}"}), id="a login page"),
    ],
)
def test_a_token_that_a_server_says_back_is_not_shown(serve, kubeconfig, reply):
    server = serve(lambda request: reply)
    connection = Connection.open(Access(kubeconfig=kubeconfig(server.url, user={"token": SENT})))
    with pytest.raises(ClusterError) as raised:
        connection.get("/x")
    assert "[hidden]" in str(raised.value)
    assert "s3cret-" not in f"{raised.value} {raised.value.hint} {getattr(raised.value, 'text', '')}"


@pytest.mark.parametrize("code", [200, 403, 500])
def test_deeply_nested_json_of_a_server_is_a_fault_of_the_server(to, code):
    _, connection = to(Reply(b"[" * 100_000 + b"]" * 100_000, code))
    with pytest.raises(ClusterError):
        listing.read(connection)
    with pytest.raises(ClusterError):
        list(pages(connection, "/api/v1/pods"))


def test_oversized_response_is_refused(to, monkeypatch):
    monkeypatch.setattr(connections, "LARGEST", 1 << 20)
    server, connection = to(Reply({"a": "b" * (4 << 20)}))
    with pytest.raises(Unanswered, match="an answer of more than 1 MiB"):
        connection.get("/x")
    assert len(server.requests) == 1


def test_oversized_watch_line_is_refused(to, monkeypatch):
    monkeypatch.setattr(connections, "LONGEST", 1 << 20)
    _, connection = to(Reply(b'{"a":1}\n' + b"b" * (4 << 20), chunked=True))
    lines = connection.stream("/x", {"watch": "1"})
    assert next(lines) == b'{"a":1}'
    with pytest.raises(Unanswered, match="a line of a watch of more than 1 MiB"):
        next(lines)


def test_long_watch_line_is_complete(to):
    line = b"b" * 1_000_000
    _, connection = to(Reply(line + b"\n\n" + line + b"\n", chunked=True))
    assert list(connection.stream("/x", {"watch": "1"})) == [line, line]


@pytest.mark.parametrize(
    "cluster",
    [
        {"proxy_url": "http://me:s3cret@127.0.0.1:99999"},
        {"proxy_url": "ftp://me:s3cret@127.0.0.1"},
        {"proxy_url": "http://me:s3cret@[::1"},
        {"proxy_url": "http://me:s3cret@127.0.0.1:1"},
        {"server": "http://me:s3cret@127.0.0.1:1"},
        {"server": "http://me:s3cret@127.0.0.1:99999"},
        {"server": "http://me:s3cret@[::1"},
    ],
    ids=lambda cluster: " ".join(cluster.values()),
)
def test_url_passwords_are_never_shown(kubeconfig, cluster):
    named = {"server": "https://api.example", **cluster}
    path = kubeconfig(named.pop("server"), **named)
    with pytest.raises(ClusterError) as raised:
        Connection.open(Access(kubeconfig=path)).get("/version")
    assert "s3cret" not in f"{raised.value} {raised.value.hint}"


def test_connection_refused(kubeconfig):
    connection = Connection.open(Access(kubeconfig=kubeconfig(f"http://127.0.0.1:{free_port()}")))
    with pytest.raises(ClusterError, match=r"context test: http://127.0.0.1:\d+ refuses the connection") as raised:
        connection.get("/version")
    assert "running" in raised.value.hint


def test_unresolvable_host(kubeconfig):
    connection = Connection.open(Access(kubeconfig=kubeconfig("https://api.invalid")))
    with pytest.raises(ClusterError, match=r"the name of https://api\.invalid cannot be resolved") as raised:
        connection.get("/version")
    assert "VPN" in raised.value.hint


def test_tls_to_a_plain_http_server(serve, kubeconfig):
    server = serve(lambda request: Reply({}))
    connection = Connection.open(Access(kubeconfig=kubeconfig(server.url.replace("http:", "https:"))))
    with pytest.raises(ClusterError, match=r"TLS with https://.* failed"):
        connection.get("/version")


def test_plain_http_to_a_tls_server(serve, kubeconfig):
    server = serve(lambda request: Reply({}), tls=True)
    connection = Connection.open(Access(kubeconfig=kubeconfig(server.url.replace("https:", "http:"))))
    with pytest.raises(ClusterError):
        connection.get("/version")


def test_expired_certificate(serve, kubeconfig, authority, tmp_path):
    import datetime

    server = serve(lambda request: Reply({}), tls=True, not_after=datetime.datetime(2020, 1, 1))
    (tmp_path / "ca.crt").write_bytes(authority.cert_pem.bytes())
    connection = Connection.open(Access(kubeconfig=kubeconfig(server.url, certificate_authority="ca.crt")))
    with pytest.raises(ClusterError, match=r"the certificate of https://.* is out of date: .*expired") as raised:
        connection.get("/version")
    assert "clock" in raised.value.hint


def test_wrong_certificate_authority(serve, kubeconfig, tmp_path):
    server = serve(lambda request: Reply({}), tls=True)
    (tmp_path / "ca.crt").write_bytes(trustme.CA().cert_pem.bytes())
    connection = Connection.open(Access(kubeconfig=kubeconfig(server.url, certificate_authority="ca.crt")))
    with pytest.raises(ClusterError, match="signed by an unknown authority"):
        connection.get("/version")


def test_unreachable_proxy(kubeconfig):
    proxy = f"http://127.0.0.1:{free_port()}"
    connection = Connection.open(Access(kubeconfig=kubeconfig("https://api.example", proxy_url=proxy)))
    with pytest.raises(ClusterError, match=f"through the proxy {proxy} refuses the connection"):
        connection.get("/version")


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/api/v1/pods", {}, '- {apiGroups: [""], resources: ["pods"], verbs: ["list"]}'),
        ("GET", "/api/v1/pods", {"watch": "1"}, '- {apiGroups: [""], resources: ["pods"], verbs: ["watch"]}'),
        ("GET", "/api/v1/namespaces/a/pods", {}, '- {apiGroups: [""], resources: ["pods"], verbs: ["list"]}'),
        (
            "GET",
            "/api/v1/namespaces/a",
            {},
            '- {apiGroups: [""], resources: ["namespaces"], resourceNames: ["a"], verbs: ["get"]}',
        ),
        (
            "POST",
            "/api/v1/namespaces/a/pods/p/binding",
            {},
            '- {apiGroups: [""], resources: ["pods/binding"], verbs: ["create"]}',
        ),
        (
            "PUT",
            "/apis/resource.k8s.io/v1/namespaces/a/resourceclaims/c/status",
            {},
            '- {apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/status"], resourceNames: ["c"],'
            ' verbs: ["update"]}',
        ),
        (
            "DELETE",
            "/apis/apps/v1/namespaces/a/deployments/d",
            {},
            '- {apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["d"], verbs: ["delete"]}',
        ),
    ],
)
def test_rbac_rule_of_a_request(method, path, query, expected):
    assert rule(method, path, query) == expected
