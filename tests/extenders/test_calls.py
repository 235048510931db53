"""Extenders over HTTP and TLS: what is sent, what of the answers counts, and what becomes of the ones that fail."""

import socket
import threading
from contextlib import closing

import pytest

from schedctl.config import types as config
from schedctl.errors import ConfigError
from schedctl.extenders import calls, webhooks
from schedctl.framework.extenders import ExtenderError, FilterAnswer, NodeVictims
from schedctl.testing.builders import cluster, node, pod
from tests.extenders.conftest import connect_extender, question, settings
from tests.live.servers import Reply

AB = (node("a", labels={"disk": "ssd"}), node("b"))


def nodes(*objects):
    return cluster(*(objects or AB)).nodes


def whole(*names):
    return {"Nodes": {"items": [{"metadata": {"name": name}} for name in names]}}


def test_filter_sends_pod_and_nodes_as_kubernetes_json(serve_extender):
    server = serve_extender(whole("a", "b"))
    connect_extender(f"{server.url}/scheduler/").filter(pod(cpu="100m", metadata={"uid": "u-1"}), nodes())
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/scheduler/filter")
    assert request.header("Content-Type") == "application/json"
    body = question(request)
    assert list(body) == ["Pod", "Nodes", "NodeNames"]
    assert body["Pod"]["metadata"] == {"name": "web", "namespace": "default", "uid": "u-1"}
    assert body["Pod"]["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "100m"}}
    assert [item["metadata"]["name"] for item in body["Nodes"]["items"]] == ["a", "b"]
    assert body["Nodes"]["items"][0]["metadata"]["labels"]["disk"] == "ssd"
    assert body["Nodes"]["items"][0]["status"]["allocatable"]["cpu"] == "4"
    assert body["NodeNames"] is None


def test_node_cache_capable_extender_gets_names(serve_extender):
    server = serve_extender({"NodeNames": ["b"], "FailedNodes": {"a": "no"}})
    answer = connect_extender(server.url, node_cache_capable=True).filter(pod(), nodes())
    assert question(server.requests[0])["Nodes"] is None
    assert question(server.requests[0])["NodeNames"] == ["a", "b"]
    assert answer == FilterAnswer(("b",), {"a": "no"}, {}, described=False)


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        pytest.param(whole("a"), ("a",), id="whole nodes"),
        pytest.param({"nodes": {"items": [{"metadata": {"NAME": "a"}}]}}, ("a",), id="keys in another case"),
        pytest.param({"NodeNames": ["a"]}, (), id="names count only where names were sent"),
        pytest.param({"Nodes": None}, (), id="nothing at all"),
        pytest.param(b'{"nodes": {"items": null}} trailing', (), id="what follows the first value is ignored"),
        pytest.param(b"null", (), id="null"),
        pytest.param({"Nodes": {"items": []}, "Error": None, "FailedNodes": None}, (), id="fields that are null"),
    ],
)
def test_answers_of_filter_are_read_as_go_reads_them(serve_extender, answer, kept):
    assert connect_extender(serve_extender(answer).url).filter(pod(), nodes()).kept == kept


def test_node_cache_capable_extender_may_return_nodes(serve_extender):
    answer = connect_extender(serve_extender(whole("a")).url, node_cache_capable=True).filter(pod(), nodes())
    assert (answer.kept, answer.described) == (("a",), True)


def test_prioritize_reads_host_priorities(serve_extender):
    server = serve_extender([{"Host": "a", "Score": 3}, {"host": "b", "score": -4}, {"Host": "ghost"}])
    assert connect_extender(server.url).prioritize(pod(), nodes()) == [("a", 3), ("b", -4), ("ghost", 0)]


FULL = (*AB, pod("x", on="a", metadata={"uid": "u-x"}), pod("y", on="a"))


def victims(made):
    return {"a": NodeVictims(tuple(made.pod_table.on(0)), 1)}


def test_preempt_sends_victims(serve_extender):
    made = cluster(*FULL)
    server = serve_extender({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "u-x"}], "NumPDBViolations": 2}}})
    answer = connect_extender(server.url).preempt(pod("urgent"), victims(made), made.nodes)
    body = question(server.requests[0])
    assert [each["metadata"]["uid"] for each in body["NodeNameToVictims"]["a"]["Pods"]] == ["u-x", "default/y"]
    assert body["NodeNameToVictims"]["a"]["NumPDBViolations"] == 1
    assert body["NodeNameToMetaVictims"] is None
    assert [(each.key, answer["a"].violations) for each in answer["a"].pods] == [("default/x", 2)]


def test_preempt_sends_uids_to_node_cache_capable_extender(serve_extender):
    made = cluster(*FULL)
    server = serve_extender({})
    assert connect_extender(server.url, node_cache_capable=True).preempt(pod("urgent"), victims(made), made.nodes) == {}
    body = question(server.requests[0])
    assert body["NodeNameToMetaVictims"] == {
        "a": {"Pods": [{"UID": "u-x"}, {"UID": "default/y"}], "NumPDBViolations": 1}
    }
    assert body["NodeNameToVictims"] is None


# -- extenders that fail, are slow, or lie -------------------------------------------


@pytest.mark.parametrize(
    ("answer", "names_only", "text"),
    [
        pytest.param(Reply({}, 500), False, "failed filter with extender at URL {url}/filter, code 500", id="code 500"),
        pytest.param(
            Reply({}, 302, {"Location": "/elsewhere"}),
            False,
            "failed filter with extender at URL {url}/filter, code 302",
            id="a redirection is not followed",
        ),
        pytest.param({"Error": "out of licences"}, False, "out of licences", id="it says that it failed"),
        pytest.param(
            {"NodeNames": ["c"]},
            True,
            'extender "{url}" claims a filtered node "c" which is not found in the input node list',
            id="it names a node it was not asked about",
        ),
        pytest.param(
            whole("c"),
            False,
            'extender "{url}" claims a filtered node "c" which is not found in the input node list',
            id="it sends a node it was not asked about",
        ),
        pytest.param(Reply(reset=True), False, 'Post "{url}/filter": EOF', id="it hangs up"),
        pytest.param(Reply(b"{}", cut=1), False, 'Post "{url}/filter": unexpected EOF', id="it stops half way"),
        *(
            pytest.param(
                body,
                False,
                "extender {url}: the answer to filter cannot be read: " + text,
                id=f"nonsense: {body[:20]!r}",
            )
            for body, text in (
                (b"", "EOF"),
                (b"<html>", "the answer is not JSON: expecting value at 0"),
                (b"[]", "the answer: expected an object"),
                (b'{"Nodes": []}', "Nodes: expected an object"),
                (b'{"Nodes": {"items": {}}}', "Nodes.items: expected a list"),
                (b'{"NodeNames": [1]}', "NodeNames: expected a string"),
                (b'{"FailedNodes": {"a": 1}}', "FailedNodes[a]: expected a string"),
                (b'{"Error": NaN}', "the answer is not JSON: NaN"),
                (b"[" * 100_000, "the answer is not readable JSON: it is nested too deeply"),
            )
        ),
    ],
)
def test_failing_filter_uses_kube_schedulers_words(serve_extender, answer, names_only, text):
    server = serve_extender(answer)
    with pytest.raises(ExtenderError) as fault:
        connect_extender(server.url, node_cache_capable=names_only).filter(pod(), nodes())
    assert str(fault.value) == text.format(url=server.url)
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"{}", b'[{"Host": 1}]', b'[{"Score": 1.5}]', b'[{"Score": 9223372036854775808}]'])
def test_malformed_scores_are_an_error(serve_extender, body):
    with pytest.raises(ExtenderError, match="the answer to prioritize cannot be read"):
        connect_extender(serve_extender(body).url).prioritize(pod(), nodes())


@pytest.mark.parametrize(
    ("victims_of", "text"),
    [
        pytest.param({"ghost": {}}, 'nodeinfo not found for node name "ghost"', id="an unknown node"),
        pytest.param(
            {"b": {"Pods": [{"UID": "u-x"}]}},
            "extender: {url} claims to preempt pod (UID: &{{u-x}}) on node: b, but the pod is not found on that node",
            id="a victim on another node",
        ),
        pytest.param({"a": []}, "extender {url}: the answer to preempt cannot be read:", id="nonsense"),
    ],
)
def test_unknown_victims_are_an_error(serve_extender, victims_of, text):
    made = cluster(*FULL)
    server = serve_extender({"NodeNameToMetaVictims": victims_of})
    with pytest.raises(ExtenderError) as fault:
        connect_extender(server.url).preempt(pod("urgent"), victims(made), made.nodes)
    assert str(fault.value).startswith(text.format(url=server.url))


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        pytest.param(
            Reply(silence=60),
            'Post "{url}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
            id="it says nothing",
        ),
        pytest.param(
            Reply(whole("a"), drip=0.1),
            "context deadline exceeded (Client.Timeout or context cancellation while reading body)",
            id="its answer drips",
        ),
    ],
)
def test_slow_response_times_out(serve_extender, reply, text):
    server = serve_extender(reply)
    (extender,) = webhooks.connect(
        [config.Extender(url_prefix=server.url, filter_verb="filter", http_timeout=calls_in(0.3))], "config.yaml"
    )
    with pytest.raises(ExtenderError) as fault:
        extender.filter(pod(), nodes())
    assert str(fault.value) == text.format(url=server.url)


def calls_in(seconds):
    return config.Extender().http_timeout.__class__(int(seconds * 1_000_000_000))


def test_slow_headers_time_out():
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        over = threading.Event()

        def drip():
            connection, _ = listening.accept()
            with closing(connection):
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not over.wait(0.05):
                    try:
                        connection.sendall(b"X: y\r\n")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        (extender,) = webhooks.connect(
            [config.Extender(url_prefix=url, filter_verb="filter", http_timeout=calls_in(0.3))], "config.yaml"
        )
        with pytest.raises(ExtenderError, match="context deadline exceeded"):
            extender.filter(pod(), nodes())
        over.set()
        thread.join()


def test_connection_refused():
    with closing(socket.create_server(("127.0.0.1", 0))) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(ExtenderError) as fault:
        connect_extender(f"http://127.0.0.1:{port}").filter(pod(), nodes())
    refused = f'Post "http://127.0.0.1:{port}/filter": dial tcp 127.0.0.1:{port}: connect: connection refused'
    assert str(fault.value) == refused


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("ftp://x", 'Post "ftp://x/filter": unsupported protocol scheme "ftp"'),
        ("", 'Post "/filter": unsupported protocol scheme ""'),
        ("http://", 'Post "http:/filter": no Host in request URL'),
        ("http://[::1", "Post "),
        ("http://127.0.0.1:99999999", "Post "),
        ("http://127.0.0.1:1/a b\r\nX: y", "Post "),
    ],
)
def test_invalid_url_is_an_error(url, text):
    with pytest.raises(ExtenderError) as fault:
        connect_extender(url).filter(pod(), nodes())
    assert str(fault.value).startswith(text)


def test_oversized_answer_is_an_error(serve_extender, monkeypatch):
    monkeypatch.setattr(calls, "MOST_BYTES", 1 << 20)
    with pytest.raises(ExtenderError, match="the answer is longer than 1 MiB"):
        connect_extender(serve_extender(b" " * (2 << 20)).url).filter(pod(), nodes())


def test_url_user_is_sent_and_never_shown(serve_extender):
    server = serve_extender(Reply({}, 401))
    extender = connect_extender(server.url.replace("//", "//me:secret@"))
    assert extender.name == f"Extender:{server.url}"
    with pytest.raises(ExtenderError) as fault:
        extender.filter(pod(), nodes())
    assert "secret" not in str(fault.value)
    assert server.requests[0].header("Authorization") == "Basic bWU6c2VjcmV0"


def test_repeated_question_is_cached(serve_extender):
    server = serve_extender(Reply({}, 500))
    extender = connect_extender(server.url)
    for _ in range(3):
        with pytest.raises(ExtenderError):
            extender.filter(pod(), nodes())
    assert len(server.requests) == 1


# -- TLS ---------------------------------------------------------------------------------


def pem(authority):
    return authority.cert_pem.bytes()


def test_server_is_verified_by_ca_data(serve_extender, authority):
    server = serve_extender(whole("a"), tls=True)
    tls = config.ExtenderTLSConfig(ca_data=pem(authority))
    assert connect_extender(server.url, tls_config=tls).filter(pod(), nodes()).kept == ("a",)


def test_server_is_verified_by_ca_file(serve_extender, authority, tmp_path):
    (tmp_path / "ca.pem").write_bytes(pem(authority))
    server = serve_extender(whole("a"), tls=True)
    tls = config.ExtenderTLSConfig(ca_file=str(tmp_path / "ca.pem"))
    assert connect_extender(server.url, tls_config=tls).filter(pod(), nodes()).kept == ("a",)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"enable_https": True}, id="enableHTTPS without an authority"),
        pytest.param({"tls_config": config.ExtenderTLSConfig(insecure=True)}, id="insecure"),
    ],
)
def test_insecure_skips_verification(serve_extender, fields):
    server = serve_extender(whole("a"), tls=True, names=("elsewhere.example",))
    assert connect_extender(server.url, **fields).filter(pod(), nodes()).kept == ("a",)


def test_unverified_server_is_an_error(serve_extender):
    server = serve_extender(whole("a"), tls=True)
    with pytest.raises(ExtenderError, match="tls: failed to verify certificate"):
        connect_extender(server.url, tls_config=config.ExtenderTLSConfig()).filter(pod(), nodes())
    assert server.requests == []


def test_server_name_overrides_the_host_name(serve_extender, authority):
    server = serve_extender(whole("a"), tls=True, names=("extender.example",))
    tls = config.ExtenderTLSConfig(ca_data=pem(authority), server_name="extender.example")
    assert connect_extender(server.url, tls_config=tls).filter(pod(), nodes()).kept == ("a",)
    with pytest.raises(ExtenderError, match="failed to verify certificate"):
        connect_extender(server.url, tls_config=config.ExtenderTLSConfig(ca_data=pem(authority))).filter(pod(), nodes())


def test_client_certificate(serve_extender, authority):
    mine = authority.issue_cert("me.example", common_name="me")
    server = serve_extender(whole("a"), tls=True)
    certificate = b"".join(blob.bytes() for blob in mine.cert_chain_pems)
    tls = config.ExtenderTLSConfig(ca_data=pem(authority), cert_data=certificate, key_data=mine.private_key_pem.bytes())
    connect_extender(server.url, tls_config=tls).filter(pod(), nodes())
    assert server.requests[0].certificate == "me"


@pytest.mark.parametrize(
    ("tls", "text"),
    [
        (
            config.ExtenderTLSConfig(ca_file="nowhere/ca.pem"),
            "couldn't build extenders: nowhere/ca.pem: no such file or directory",
        ),
        (
            config.ExtenderTLSConfig(ca_data=b"hello"),
            "couldn't build extenders: unable to load root certificates: unable to parse bytes as PEM block",
        ),
        (
            config.ExtenderTLSConfig(cert_data=b"hello", key_data=b"hello"),
            "couldn't build extenders: tls: the client certificate and key do not match, or are not PEM",
        ),
    ],
)
def test_unusable_tls_settings_are_configuration_errors(tls, text):
    with pytest.raises(ConfigError) as fault:
        webhooks.connect([settings("http://y"), settings("https://x", tls_config=tls)], "config.yaml")
    (problem,) = fault.value.problems
    assert (problem.source, problem.path, problem.message) == ("config.yaml", "extenders[1].tlsConfig", text)


def test_slow_name_lookup_times_out(serve_extender, monkeypatch):
    found = socket.getaddrinfo

    def slowly(*arguments):
        threading.Event().wait(0.3)
        return found(*arguments)

    server = serve_extender(Reply(whole("a"), drip=0.1))
    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    (extender,) = webhooks.connect(
        [config.Extender(url_prefix=server.url, filter_verb="filter", http_timeout=calls_in(0.1))], "config.yaml"
    )
    with pytest.raises(ExtenderError, match="context deadline exceeded"):
        extender.filter(pod(), nodes())
    assert server.requests == []
