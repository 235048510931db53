"""What an agent sees: the SDK's client asks a server over standard input and output."""

from __future__ import annotations

import time

import pytest

TOOLS = [
    *("cluster", "explain", "explain_nodes", "simulate", "drain", "capacity", "nodes", "n_minus_1", "check", "compare"),
]
POD = "shop/web-7d9c6b5f4d-jbljm"
FREE = """
apiVersion: v1
kind: Pod
metadata: {name: free, namespace: shop}
spec:
  containers: [{name: main, image: "registry.example/free:1", resources: {requests: {cpu: 100m}}}]
"""


def text(result):
    """Return the words of a result."""
    assert not result.is_error, result.content[0].text
    return result.content[0].text


def test_it_introduces_itself_and_says_that_nothing_is_changed(converse):
    async def dialogue(client):
        return client.server_info, client.instructions

    server, instructions = converse(dialogue)
    assert server.name == "schedctl"
    assert "No tool changes anything" in instructions


def test_every_tool_only_reads_and_says_so(converse):
    async def dialogue(client):
        return (await client.list_tools()).tools

    tools = converse(dialogue)
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert "Nothing was changed" in tool.description
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint


def test_schemas_and_pages_of_the_documentation_are_resources(converse):
    async def dialogue(client):
        listed = {str(each.uri) for each in (await client.list_resources()).resources}
        schema = await client.read_resource("schedctl://schemas/ExplainReport")
        page = await client.read_resource("schedctl://docs/why-pending")
        return listed, schema.contents[0].text, page.contents[0].text

    listed, schema, page = converse(dialogue)
    assert {"schedctl://schemas/Config", "schedctl://docs/policies", "schedctl://docs/mcp"} <= listed
    assert '"title": "ExplainReport"' in schema
    assert page.startswith("# ")


# Each question in words, the tool an agent would take, and what the answer has to hold. The answers were read off the
# command line, which has tests of its own.
QUESTIONS = [
    ("How many nodes are there?", "cluster", {}, lambda said, report: report["nodes"] == 17),
    (
        "Whose pods are pending?",
        "cluster",
        {},
        lambda said, report: report["pendingByOwner"] == {"Deployment shop/web": 1, "Job ml/train": 1},
    ),
    (
        "Why is the web pod pending?",
        "explain",
        {"pods": [POD]},
        lambda said, report: report["results"][0]["reasons"][0]["summary"] == "cpu: 500m requested, 90m to 140m free",
    ),
    (
        "What would help it?",
        "explain",
        {"pods": [POD]},
        lambda said, report: report["results"][0]["hints"][0]["command"].endswith("--requests=cpu=140m"),
    ),
    (
        "Why not on general-b-1?",
        "explain",
        {"pods": [POD], "node": "general-b-1"},
        lambda said, report: "skew 2, at most 1 allowed" in said,
    ),
    (
        "Would it fit if a node like general-c-1 were added?",
        "explain",
        {"pods": [POD], "what_ifs": ["add-node like:general-c-1=1"]},
        lambda said, report: report["results"][0]["verdict"] == "Scheduled",
    ),
    (
        "Which pods would stay pending if general-a-2 were drained?",
        "drain",
        {"names": ["general-a-2"]},
        lambda said, report: report["summary"]["pending"] == 2 and report["results"][0]["verdict"] == "LeavesPending",
    ),
    (
        "How many more cart pods fit?",
        "capacity",
        {"like": ["deploy/cart"], "namespace": "shop"},
        lambda said, report: report["results"][0]["fits"] == int(said.split(": ")[1].split()[0]),
    ),
    (
        "Where would this pod go?",
        "simulate",
        {"manifests": FREE},
        lambda said, report: report["summary"]["placed"] == 1 and report["results"][0]["nodes"][0]["pods"] == 1,
    ),
    (
        "How many nodes of which group would place the pending pods?",
        "nodes",
        {},
        lambda said, report: report["summary"]["text"] == "add 2 nodes: 1 general, 1 gpu",
    ),
    (
        "Which nodes can go?",
        "nodes",
        {"shrink": True, "delete_emptydir_data": True},
        lambda said, report: [node["name"] for node in report["nodes"]] == ["general-b-3", "general-a-1"],
    ),
    (
        "The loss of which zone is the worst?",
        "n_minus_1",
        {"by": ["zone"]},
        lambda said, report: report["results"][0]["name"] == "eu-west-1c" and report["results"][0]["pending"] == 8,
    ),
    (
        "What would bin-packing change for the pending pods?",
        "compare",
        {"configurations": ["bin-packing"]},
        lambda said, report: report["summary"]["pods"] == 2 and "no pod would move" in said,
    ),
]


def test_questions_about_a_cluster_are_answered_rightly(converse):
    async def dialogue(client):
        return [await client.call_tool(tool, arguments) for _, tool, arguments, _ in QUESTIONS]

    answers = converse(dialogue)
    wrong = [
        question
        for (question, _, _, is_right), answer in zip(QUESTIONS, answers, strict=True)
        if not is_right(text(answer), answer.structured_content)
    ]
    assert wrong == []


def test_a_question_leaves_nothing_behind(converse):
    async def dialogue(client):
        first = await client.call_tool("explain", {"all_pending": True})
        await client.call_tool("simulate", {"manifests": FREE})
        await client.call_tool("drain", {"names": ["general-a-2", "general-b-1"]})
        await client.call_tool("explain", {"pods": [POD], "what_ifs": ["lose zone=eu-west-1a"]})
        return first, await client.call_tool("explain", {"all_pending": True})

    first, again = converse(dialogue)
    assert text(first) == text(again)
    assert first.structured_content == again.structured_content


def test_a_short_answer_says_what_it_leaves_out_and_a_full_one_has_it(converse):
    async def dialogue(client):
        asked = {"pods": [POD], "namespace": "shop"}
        return await client.call_tool("explain", asked), await client.call_tool("explain", {**asked, "detail": "full"})

    short, full = converse(dialogue)
    assert "`detail: full` returns all of it" in text(short)
    filters = full.structured_content["results"][0]["filters"]
    assert len(filters) == 14
    assert short.structured_content["results"][0]["filters"] == filters[:5]
    assert short.structured_content["results"][0]["filtersOmitted"] == 9


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        pytest.param("explain", {"pods": ["shop/nobody"]}, 'no pod "nobody" in namespace shop', id="no such pod"),
        pytest.param("explain", {}, "no pod or workload given", id="no pod at all"),
        pytest.param("drain", {"names": ["a"], "zone": "b"}, "give nodes, a selector or a zone", id="two selections"),
        pytest.param("simulate", {"manifests": "kind: ["}, "manifests.yaml", id="no YAML"),
        pytest.param("simulate", {}, "no manifests given", id="no manifests"),
        pytest.param("simulate", {"files": ["/etc/hostname"]}, "started without --root", id="a file, without a root"),
        pytest.param(
            "capacity", {"like": ["/etc/hostname"]}, "is a file, not an object", id="a file in place of a name"
        ),
        pytest.param("explain", {"pods": [POD], "what_ifs": ["add-node /etc/hostname=2"]}, "read a file", id="nodes"),
        pytest.param("compare", {"configurations": ["/etc/hostname"]}, "no configuration", id="another configuration"),
        pytest.param(
            "explain", {"pods": [POD], "detail": "everything"}, "detail: input should be", id="no such detail"
        ),
        pytest.param(
            "explain", {"pods": 5}, "pods: input should be a valid list, found 5", id="an argument of another type"
        ),
        pytest.param("explain", {"pod": POD}, 'no argument "pod"; did you mean "pods"?', id="no such argument"),
        pytest.param(
            "explain", {"all-pending": True}, 'did you mean "all_pending"?', id="an argument as the command line has it"
        ),
        pytest.param(
            "cluster", {"namespace": "shop"}, "its arguments are detail", id="an argument that nothing is like"
        ),
        pytest.param("bind", {"pods": [POD]}, 'no tool "bind"; the tools are cluster', id="no such tool"),
        pytest.param("explian", {"pods": [POD]}, 'did you mean "explain"?', id="a misspelt tool"),
        pytest.param(
            "capacity", {"like": ["deploy/cart"]}, "there is one in namespace shop: add `namespace: shop`", id="a hint"
        ),
        pytest.param("capacity", {"like": ["deploy/cart"], "most": 0}, "most: 0 is out of range", id="out of range"),
        pytest.param("nodes", {"shrink": True, "manifests": FREE}, "ask one after the other", id="two questions"),
        pytest.param("n_minus_1", {"by": ["rack"]}, "rack", id="a label that no node has"),
        pytest.param("compare", {"configurations": []}, "no configuration given", id="nothing to compare with"),
    ],
)
def test_what_is_wrong_with_a_question_comes_back_with_a_next_step(converse, tool, arguments, message):
    async def dialogue(client):
        return await client.call_tool(tool, arguments)

    result = converse(dialogue)
    assert result.is_error
    assert message in result.content[0].text
    assert "Traceback" not in result.content[0].text


def test_a_text_is_a_file_without_a_folder_in_what_is_said_about_it(converse):
    async def dialogue(client):
        placed = await client.call_tool("simulate", {"manifests": FREE})
        return placed, await client.call_tool("simulate", {"manifests": FREE.replace("100m", "much")})

    placed, wrong = converse(dialogue)
    assert placed.structured_content["results"][0]["source"] == "manifests.yaml:2"
    assert wrong.content[0].text.startswith("Error executing tool simulate: manifests.yaml:6:91: Pod shop/free")


def test_files_below_a_root_may_be_named(converse):
    async def dialogue(client):
        return await client.call_tool("simulate", {"files": ["spring/web.yaml"]})

    result = converse(dialogue, "-f", "fixtures/clusters/shop", "--root", "fixtures/releases")
    assert "8 of 8 pods would be placed" in text(result)


@pytest.mark.slow
def test_5000_nodes_are_answered_about_within_limits(converse, large):
    async def dialogue(client):
        return [
            await client.call_tool("explain", {"pods": ["shop/large", "shop/small"]}),
            await client.call_tool("drain", {"selector": "node-pool=gpu,topology.kubernetes.io/zone=eu-west-1a"}),
            await client.call_tool("capacity", {"manifest": FREE, "most": 1000}),
            await client.call_tool("explain", {"pods": ["shop/large"], "detail": "full"}),
        ]

    answers = converse(dialogue, "-f", str(large))
    assert all(len(text(each)) < 15_000 for each in answers)
    assert all(len(str(each.structured_content)) < 60_000 for each in answers[:3])
    assert len(str(answers[3].structured_content)) < 2_000_000


@pytest.mark.slow
def test_a_question_that_is_called_off_ends_and_the_next_one_is_answered(converse, large):
    import anyio

    async def dialogue(client):
        async def explain():
            started = time.monotonic()
            return await client.call_tool("explain", {"pods": ["shop/small"]}), time.monotonic() - started

        before = await explain()
        with anyio.move_on_after(1):
            await client.call_tool("capacity", {"manifest": FREE, "most": 10_000, "by": "node"})
        return before, await explain()

    (_, usual), (after, seconds) = converse(dialogue, "-f", str(large))
    assert "pod shop/small" in text(after)
    assert seconds < 20 * usual  # whoever waits for the question before waits for much longer
