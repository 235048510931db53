"""Kustomizations are built by the program that is there; what goes wrong is said, and nothing is run in a shell."""

from __future__ import annotations

import shutil

import pytest

from schedctl.errors import InputError
from schedctl.sources import Terms, kustomize, load

POD = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: a}]}}"


def program(folder, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder that holds all programs there are."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def built(folder: str):
    return load([], terms=Terms(creating=True), kustomizations=[folder])


def problem(folder: str):
    with pytest.raises(InputError) as raised:
        built(folder)
    (only,) = raised.value.problems
    return only


@pytest.mark.parametrize(("name", "verb"), [("kustomize", "build"), ("kubectl", "kustomize")])
def test_kustomize_and_kubectl_both_build(programs, name, verb):
    program(programs, name, f'[ "$1 $2 $3" = "{verb} -- some dir;x" ] && echo "# built" && echo "{POD}"')
    manifests = built("some dir;x")
    assert [one.object.metadata.name for one in manifests.objects] == ["web"]
    assert manifests.objects[0].source == "some dir;x"


def test_kustomize_is_preferred_to_kubectl(programs):
    program(programs, "kubectl", "exit 1")
    program(programs, "kustomize", f'echo "# built"; echo "{POD}"')
    assert len(built("dir").objects) == 1


def test_missing_kustomize_is_an_error_with_an_install_hint(programs):
    found = problem("dir")
    assert str(found) == "dir: cannot be built: neither kustomize nor kubectl is installed"
    assert "install kustomize or kubectl" in found.hint


def test_kustomize_error_is_passed_on(programs):
    program(programs, "kustomize", "echo 'Error: unable to find one of kustomization.yaml' >&2; exit 1")
    assert str(problem("dir")) == "dir: `kustomize build` failed: unable to find one of kustomization.yaml"


def test_slow_kustomize_build_times_out(programs, monkeypatch):
    monkeypatch.setattr(kustomize, "SECONDS", 0.1)
    program(programs, "kustomize", "exec /bin/sleep 5")
    assert str(problem("dir")) == "dir: `kustomize build` took more than 0.1 s"


@pytest.mark.skipif(not (shutil.which("kustomize") or shutil.which("kubectl")), reason="no kustomize here")
def test_a_real_kustomization(tmp_path):
    (tmp_path / "kustomization.yaml").write_text("resources: [pod.yaml]\nnamePrefix: my-\nnamespace: shop\n")
    (tmp_path / "pod.yaml").write_text(POD)
    (one,) = built(str(tmp_path)).objects
    assert one.subject == "Pod shop/my-web"
