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
from tests.extenders.conftest import asked, connected, settings
from tests.live.servers import Reply

AB = (node("a", labels={"disk": "ssd"}), node("b"))


def nodes(*objects):
    return cluster(*(objects or AB)).nodes


def whole(*names):
    return {"Nodes": {"items": [{"metadata": {"name": name}} for name in names]}}


def test_the_pod_and_whole_nodes_are_sent_as_kubernetes_writes_them(answering):
    server = answering(whole("a", "b"))
    connected(f"{server.url}/scheduler/").filter(pod(cpu="100m", metadata={"uid": "u-1"}), nodes())
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/scheduler/filter")
    assert request.header("Content-Type") == "application/json"
    body = asked(request)
    assert list(body) == ["Pod", "Nodes", "NodeNames"]
    assert body["Pod"]["metadata"] == {"name": "web", "namespace": "default", "uid": "u-1"}
    assert body["Pod"]["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "100m"}}
    assert [item["metadata"]["name"] for item in body["Nodes"]["items"]] == ["a", "b"]
    assert body["Nodes"]["items"][0]["metadata"]["labels"]["disk"] == "ssd"
    assert body["Nodes"]["items"][0]["status"]["allocatable"]["cpu"] == "4"
    assert body["NodeNames"] is None


def test_an_extender_that_knows_nodes_gets_their_names(answering):
    server = answering({"NodeNames": ["b"], "FailedNodes": {"a": "no"}})
    answer = connected(server.url, node_cache_capable=True).filter(pod(), nodes())
    assert asked(server.requests[0])["Nodes"] is None
    assert asked(server.requests[0])["NodeNames"] == ["a", "b"]
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
def test_answers_of_filter_are_read_as_go_reads_them(answering, answer, kept):
    assert connected(answering(answer).url).filter(pod(), nodes()).kept == kept


def test_an_extender_that_knows_nodes_may_send_them_whole_all_the_same(answering):
    answer = connected(answering(whole("a")).url, node_cache_capable=True).filter(pod(), nodes())
    assert (answer.kept, answer.described) == (("a",), True)


def test_scores_come_as_a_list_of_hosts(answering):
    server = answering([{"Host": "a", "Score": 3}, {"host": "b", "score": -4}, {"Host": "ghost"}])
    assert connected(server.url).prioritize(pod(), nodes()) == [("a", 3), ("b", -4), ("ghost", 0)]


FULL = (*AB, pod("x", on="a", metadata={"uid": "u-x"}), pod("y", on="a"))


def victims(made):
    return {"a": NodeVictims(tuple(made.pod_table.on(0)), 1)}


def test_victims_are_sent_whole(answering):
    made = cluster(*FULL)
    server = answering({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "u-x"}], "NumPDBViolations": 2}}})
    answer = connected(server.url).preempt(pod("urgent"), victims(made), made.nodes)
    body = asked(server.requests[0])
    assert [each["metadata"]["uid"] for each in body["NodeNameToVictims"]["a"]["Pods"]] == ["u-x", "default/y"]
    assert body["NodeNameToVictims"]["a"]["NumPDBViolations"] == 1
    assert body["NodeNameToMetaVictims"] is None
    assert [(each.key, answer["a"].violations) for each in answer["a"].pods] == [("default/x", 2)]


def test_victims_are_sent_by_uid_to_an_extender_that_knows_them(answering):
    made = cluster(*FULL)
    server = answering({})
    assert connected(server.url, node_cache_capable=True).preempt(pod("urgent"), victims(made), made.nodes) == {}
    body = asked(server.requests[0])
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
                "extender {url} gave an answer to filter that cannot be read: " + text,
                id=f"nonsense: {body[:20]!r}",
            )
            for body, text in (
                (b"", "EOF"),
                (b"<html>", "the answer is no JSON: expecting value at 0"),
                (b"[]", "the answer: expected an object"),
                (b'{"Nodes": []}', "Nodes: expected an object"),
                (b'{"Nodes": {"items": {}}}', "Nodes.items: expected a list"),
                (b'{"NodeNames": [1]}', "NodeNames: expected a string"),
                (b'{"FailedNodes": {"a": 1}}', "FailedNodes[a]: expected a string"),
                (b'{"Error": NaN}', "the answer is no JSON: NaN"),
                (b"[" * 100_000, "the answer is no JSON that anybody reads: it is nested too deeply"),
            )
        ),
    ],
)
def test_a_failing_filter_is_told_in_the_words_of_kube_scheduler(answering, answer, names_only, text):
    server = answering(answer)
    with pytest.raises(ExtenderError) as fault:
        connected(server.url, node_cache_capable=names_only).filter(pod(), nodes())
    assert str(fault.value) == text.format(url=server.url)
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"{}", b'[{"Host": 1}]', b'[{"Score": 1.5}]', b'[{"Score": 9223372036854775808}]'])
def test_nonsense_instead_of_scores_is_a_fault(answering, body):
    with pytest.raises(ExtenderError, match="gave an answer to prioritize that cannot be read"):
        connected(answering(body).url).prioritize(pod(), nodes())


@pytest.mark.parametrize(
    ("victims_of", "text"),
    [
        pytest.param({"ghost": {}}, 'nodeinfo not found for node name "ghost"', id="an unknown node"),
        pytest.param(
            {"b": {"Pods": [{"UID": "u-x"}]}},
            "extender: {url} claims to preempt pod (UID: &{{u-x}}) on node: b, but the pod is not found on that node",
            id="a victim on another node",
        ),
        pytest.param({"a": []}, "extender {url} gave an answer to preempt that cannot be read:", id="nonsense"),
    ],
)
def test_victims_that_are_not_there_are_a_fault(answering, victims_of, text):
    made = cluster(*FULL)
    server = answering({"NodeNameToMetaVictims": victims_of})
    with pytest.raises(ExtenderError) as fault:
        connected(server.url).preempt(pod("urgent"), victims(made), made.nodes)
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
def test_a_slow_extender_is_cut_off_when_its_time_is_over(answering, reply, text):
    server = answering(reply)
    (extender,) = webhooks.connect(
        [config.Extender(url_prefix=server.url, filter_verb="filter", http_timeout=calls_in(0.3))], "config.yaml"
    )
    with pytest.raises(ExtenderError) as fault:
        extender.filter(pod(), nodes())
    assert str(fault.value) == text.format(url=server.url)


def calls_in(seconds):
    return config.Extender().http_timeout.__class__(int(seconds * 1_000_000_000))


def test_headers_that_never_end_are_cut_off_as_well():
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


def test_nobody_listens():
    with closing(socket.create_server(("127.0.0.1", 0))) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(ExtenderError) as fault:
        connected(f"http://127.0.0.1:{port}").filter(pod(), nodes())
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
def test_an_address_that_is_none_is_a_fault(url, text):
    with pytest.raises(ExtenderError) as fault:
        connected(url).filter(pod(), nodes())
    assert str(fault.value).startswith(text)


def test_answers_have_a_bound(answering, monkeypatch):
    monkeypatch.setattr(calls, "MOST_BYTES", 1 << 20)
    with pytest.raises(ExtenderError, match="the answer is longer than 1 MiB"):
        connected(answering(b" " * (2 << 20)).url).filter(pod(), nodes())


def test_a_user_in_the_address_is_sent_and_never_shown(answering):
    server = answering(Reply({}, 401))
    extender = connected(server.url.replace("//", "//me:secret@"))
    assert extender.name == f"Extender:{server.url}"
    with pytest.raises(ExtenderError) as fault:
        extender.filter(pod(), nodes())
    assert "secret" not in str(fault.value)
    assert server.requests[0].header("Authorization") == "Basic bWU6c2VjcmV0"


def test_the_same_question_is_put_once(answering):
    server = answering(Reply({}, 500))
    extender = connected(server.url)
    for _ in range(3):
        with pytest.raises(ExtenderError):
            extender.filter(pod(), nodes())
    assert len(server.requests) == 1


# -- TLS ---------------------------------------------------------------------------------


def pem(authority):
    return authority.cert_pem.bytes()


def test_a_server_is_known_by_its_authority(answering, authority):
    server = answering(whole("a"), tls=True)
    tls = config.ExtenderTLSConfig(ca_data=pem(authority))
    assert connected(server.url, tls_config=tls).filter(pod(), nodes()).kept == ("a",)


def test_the_authority_may_be_in_a_file(answering, authority, tmp_path):
    (tmp_path / "ca.pem").write_bytes(pem(authority))
    server = answering(whole("a"), tls=True)
    tls = config.ExtenderTLSConfig(ca_file=str(tmp_path / "ca.pem"))
    assert connected(server.url, tls_config=tls).filter(pod(), nodes()).kept == ("a",)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"enable_https": True}, id="enableHTTPS without an authority"),
        pytest.param({"tls_config": config.ExtenderTLSConfig(insecure=True)}, id="insecure"),
    ],
)
def test_any_server_will_do_where_the_configuration_says_so(answering, given):
    server = answering(whole("a"), tls=True, names=("elsewhere.example",))
    assert connected(server.url, **given).filter(pod(), nodes()).kept == ("a",)


def test_a_stranger_is_not_asked(answering):
    server = answering(whole("a"), tls=True)
    with pytest.raises(ExtenderError, match="tls: failed to verify certificate"):
        connected(server.url, tls_config=config.ExtenderTLSConfig()).filter(pod(), nodes())
    assert server.requests == []


def test_a_server_is_known_by_the_name_that_the_configuration_gives(answering, authority):
    server = answering(whole("a"), tls=True, names=("extender.example",))
    tls = config.ExtenderTLSConfig(ca_data=pem(authority), server_name="extender.example")
    assert connected(server.url, tls_config=tls).filter(pod(), nodes()).kept == ("a",)
    with pytest.raises(ExtenderError, match="failed to verify certificate"):
        connected(server.url, tls_config=config.ExtenderTLSConfig(ca_data=pem(authority))).filter(pod(), nodes())


def test_a_client_shows_its_certificate(answering, authority):
    mine = authority.issue_cert("me.example", common_name="me")
    server = answering(whole("a"), tls=True)
    certificate = b"".join(blob.bytes() for blob in mine.cert_chain_pems)
    tls = config.ExtenderTLSConfig(ca_data=pem(authority), cert_data=certificate, key_data=mine.private_key_pem.bytes())
    connected(server.url, tls_config=tls).filter(pod(), nodes())
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
            "couldn't build extenders: tls: the certificate and the key of the client are no pair in PEM",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_a_fault_of_the_configuration(tls, text):
    with pytest.raises(ConfigError) as fault:
        webhooks.connect([settings("http://y"), settings("https://x", tls_config=tls)], "config.yaml")
    (problem,) = fault.value.problems
    assert (problem.source, problem.path, problem.message) == ("config.yaml", "extenders[1].tlsConfig", text)


def test_an_extender_whose_name_was_found_too_late_is_not_asked(answering, monkeypatch):
    found = socket.getaddrinfo

    def slowly(*given):
        threading.Event().wait(0.3)
        return found(*given)

    server = answering(Reply(whole("a"), drip=0.1))
    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    (extender,) = webhooks.connect(
        [config.Extender(url_prefix=server.url, filter_verb="filter", http_timeout=calls_in(0.1))], "config.yaml"
    )
    with pytest.raises(ExtenderError, match="context deadline exceeded"):
        extender.filter(pod(), nodes())
    assert server.requests == []
