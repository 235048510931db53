"""Findings point into the files that a team edits."""

from __future__ import annotations

import shutil

import pytest

from schedctl import sources
from schedctl.documents import yaml_values
from schedctl.policy.locations import Locator
from schedctl.reports.checks import Location
from schedctl.sources.terms import Terms

WEB = """\
# the shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: a, image: a}]
"""
CONTAINERS = ("spec", "template", "spec", "containers")
SPREADING = ("spec", "template", "spec", "topologySpreadConstraints")
CREATING = Terms(creating=True)
KUSTOMIZE = pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl"
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def located(sourced, path=()):
    return Locator().locate([(sourced, path)])[0]


def place(location):
    return location.file, location.line, location.column, location.path


def test_the_field_that_decides_is_pointed_to(here):
    (here / "web.yaml").write_text(WEB)
    (sourced,) = sources.load(["web.yaml"], terms=CREATING).objects
    path = "spec.template.spec.containers"
    assert place(located(sourced, CONTAINERS)) == ("web.yaml", 11, 7, path)
    assert place(located(sourced, (*CONTAINERS, 0, "image"))) == ("web.yaml", 11, 30, f"{path}[0].image")


def test_a_field_that_is_not_written_is_placed_at_the_kind(here):
    (here / "web.yaml").write_text(WEB)
    (sourced,) = sources.load(["web.yaml"], terms=CREATING).objects
    assert place(located(sourced, SPREADING)) == ("web.yaml", 3, 1, "spec.template.spec.topologySpreadConstraints")
    assert place(located(sourced)) == ("web.yaml", 3, 1, "")


def test_items_of_a_list_have_places_of_their_own(here):
    pod = (
        "  - apiVersion: v1\n    kind: Pod\n    metadata: {name: NAME}\n    spec: {containers: [{name: a, image: a}]}\n"
    )
    text = f"apiVersion: v1\nkind: List\nitems:\n{pod.replace('NAME', 'one')}{pod.replace('NAME', 'two')}"
    (here / "list.yaml").write_text(text)
    second = sources.load(["list.yaml"], terms=CREATING).objects[1]
    assert place(located(second)) == ("list.yaml", 9, 5, "")
    assert place(located(second, ("spec", "containers"))) == ("list.yaml", 11, 12, "spec.containers")


def test_a_document_is_read_once_more_whatever_is_asked_of_it(here, monkeypatch):
    pods = "".join(
        f"- {{apiVersion: v1, kind: Pod, metadata: {{name: p{n}}}, spec: {{containers: [{{name: a, image: a}}]}}}}\n"
        for n in range(9)
    )
    (here / "list.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:\n{pods}")
    objects = sources.load(["list.yaml"], terms=CREATING).objects
    read = []
    monkeypatch.setattr(yaml_values, "locate", lambda *arguments, to=yaml_values.locate: read.append(to(*arguments)))
    found = Locator().locate([(one, path) for one in objects for path in ((), ("spec",), ("spec", "nodeName"))])
    assert [(each.line, each.path) for each in found[:4]] == [(4, ""), (4, "spec"), (4, "spec.nodeName"), (5, "")]
    assert len(read) == 1


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        pytest.param("charts/web", "charts/web/templates/x.yaml", id="the folder of a chart of that name"),
        pytest.param("deploy/chart", "deploy/chart/templates/x.yaml", id="of another name, with a Chart.yaml"),
        pytest.param("release.yaml", "web/templates/x.yaml", id="something else"),
        pytest.param("<stdin>", "web/templates/x.yaml", id="nothing"),
    ],
)
def test_a_template_is_in_the_folder_that_standard_input_is_called_by(here, called, shown):
    (here / "deploy/chart").mkdir(parents=True)
    (here / "deploy/chart/Chart.yaml").write_text("name: web\n")
    text = f"---\n# Source: web/templates/x.yaml\n{WEB}"
    (sourced,) = sources.load_text(text.encode(), called, terms=CREATING).objects
    assert located(sourced).file == shown


def test_what_helm_rendered_is_in_the_template_on_no_line():
    text = f"---\n# Source: shop/templates/web.yaml\n{WEB}"
    (sourced,) = sources.load_text(text.encode(), "<stdin>", terms=CREATING).objects
    assert place(located(sourced, CONTAINERS)) == (
        "shop/templates/web.yaml",
        0,
        0,
        "spec.template.spec.containers",
    )


@pytest.mark.parametrize(("name", "file", "line"), [("<stdin>", "", 0), ("rendered.yaml", "rendered.yaml", 11)])
def test_standard_input_is_no_file_unless_it_has_a_name(name, file, line):
    (sourced,) = sources.load_text(WEB.encode(), name, terms=CREATING).objects
    assert located(sourced, CONTAINERS) == Location(
        file=file, line=line, column=7 if line else 0, path="spec.template.spec.containers"
    )


def kustomization(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kustomization.yaml").write_text(text)


def built(folder):
    return sources.load([], kustomizations=[folder], terms=CREATING).objects


@KUSTOMIZE
@pytest.mark.parametrize(
    "overlay",
    [
        pytest.param("resources: [../base]\n", id="as it is"),
        pytest.param("resources: [../base]\nnamePrefix: eu-\nnameSuffix: -a\nnamespace: a\n", id="renamed"),
        pytest.param("resources: [../base]\nnamePrefix: eu-\nbuildMetadata: [originAnnotations]\n", id="as it says"),
    ],
)
def test_what_kustomize_built_is_in_the_resource(here, overlay):
    kustomization(here / "base", "resources: [web.yaml]\nnameSuffix: -b\n")
    (here / "base/web.yaml").write_text(WEB)
    kustomization(here / "over", overlay)
    (sourced,) = built("over")
    assert place(located(sourced, CONTAINERS)) == ("base/web.yaml", 11, 7, "spec.template.spec.containers")
    assert place(located(sourced, SPREADING))[:3] == ("base/web.yaml", 3, 1)


def two_of_a_name(here, overlay):
    kustomization(here / "over", f"resources: [one.yaml, two.yaml]\n{overlay}")
    for name in ("one", "two"):
        (here / f"over/{name}.yaml").write_text(WEB.replace("  name: web", f"  name: web\n  namespace: {name}"))
    return {one.object.metadata.namespace: place(located(one, CONTAINERS))[:3] for one in built("over")}


@KUSTOMIZE
def test_resources_of_one_name_are_distinguished_by_namespace(here):
    assert two_of_a_name(here, "") == {"one": ("over/one.yaml", 12, 7), "two": ("over/two.yaml", 12, 7)}


@KUSTOMIZE
def test_a_resource_that_is_not_found_is_placed_at_the_kustomization(here):
    kustomization(here / "over", "resources: [web.yaml]\npatches: [{patch: 'PATCH', target: {kind: Deployment}}]\n")
    patch = '[{"op": "replace", "path": "/metadata/name", "value": "other"}]'
    file = here / "over/kustomization.yaml"
    file.write_text(file.read_text().replace("PATCH", patch))
    (here / "over/web.yaml").write_text(WEB)
    (sourced,) = built("over")
    assert place(located(sourced, CONTAINERS))[:3] == ("over/kustomization.yaml", 0, 0)


def test_an_origin_on_standard_input_is_relative_to_the_working_directory(here):
    annotated = WEB.replace(
        "  name: web", "  name: web\n  annotations: {config.kubernetes.io/origin: 'path: base/web.yaml'}"
    )
    (sourced,) = sources.load_text(annotated.encode(), "<stdin>", terms=CREATING).objects
    assert place(located(sourced, CONTAINERS))[:3] == ("base/web.yaml", 0, 0)
    (here / "base").mkdir()
    (here / "base/web.yaml").write_text(WEB)
    assert place(located(sourced, CONTAINERS))[:3] == ("base/web.yaml", 11, 7)


@pytest.mark.parametrize("origin", ["/etc/hosts", "../secret.yaml", "a/../../secret.yaml", "link.yaml"])
def test_an_origin_leads_to_nothing_outside_of_the_folder(here, tmp_path_factory, origin):
    outside = tmp_path_factory.mktemp("outside") / "secret.yaml"
    outside.write_text(WEB)
    (here / "link.yaml").symlink_to(outside)
    annotated = WEB.replace(
        "  name: web", f"  name: web\n  annotations: {{config.kubernetes.io/origin: 'path: {origin}'}}"
    )
    for text in (annotated, f"---\n# Source: {origin}\n{WEB}"):
        (sourced,) = sources.load_text(text.encode(), "<stdin>", terms=CREATING).objects
        assert located(sourced).file == ""


def test_a_manifest_file_cannot_name_another_file_as_its_origin(here):
    annotated = WEB.replace("  name: web", "  name: web\n  annotations: {config.kubernetes.io/origin: 'path: b.yaml'}")
    (here / "web.yaml").write_text(annotated)
    (sourced,) = sources.load(["web.yaml"], terms=CREATING).objects
    assert located(sourced).file == "web.yaml"
