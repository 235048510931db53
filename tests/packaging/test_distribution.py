"""The wheel, as a stranger gets it: built from the sdist, installed beside its dependencies, far from the checkout."""

from __future__ import annotations

import ast
import email
import email.message
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest

import schedctl

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> Path:
    """A folder with the sdist and the wheel built from it; the build backend is in the environment already."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def wheel(distributions) -> Path:
    (wheel,) = distributions.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def bin_folder(wheel, tmp_path_factory) -> Path:
    """The programs of an environment in which the wheel is installed.

    The dependencies are those of the environment that runs the tests, seen through a path file. An editable schedctl
    over there stays unseen, as path files of such a folder are not read.
    """
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    python = programs / Path(sys.executable).name
    pip = [sys.executable, "-m", "pip", "--python", python]
    # what is imported is compiled then, and most of it is not
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel], check=True)
    purelib = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(purelib, "dependencies.pth").write_text("\n".join(sorted(folders)), encoding="utf-8")
    return programs


def run(program: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("folder", ["profiles", "fixtures", "deploy"])
def test_wheel_contains_the_shipped_folders(folder, wheel):
    shipped = {str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*") if p.is_file()}
    packed = {
        n.removeprefix("schedctl/_data/") for n in zipfile.ZipFile(wheel).namelist() if n.startswith("schedctl/_data/")
    }
    assert shipped
    assert shipped <= packed


def test_wheel_contains_only_the_package(wheel):
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"schedctl", f"schedctl-{schedctl.__version__}.dist-info"}


def test_the_wheel_is_typed_and_licensed(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "schedctl/py.typed" in names
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)


@pytest.fixture(scope="module")
def listing(wheel) -> email.message.Message:
    """What a package index knows of the wheel."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (each for each in packed.namelist() if each.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(packed.read(name))


def test_a_package_index_gets_the_readme_without_what_only_a_checkout_has(listing):
    readme, shown = (ROOT / "README.md").read_text(encoding="utf-8"), listing.get_payload(decode=True).decode()
    examples = re.compile(r"^```console\n.*?^```$", re.MULTILINE | re.DOTALL)
    assert listing["Description-Content-Type"] == "text/markdown"
    assert examples.findall(shown) == examples.findall(readme) != []
    assert "uv tool install schedctl" in shown
    assert not [text for text in ("<!--", "make demo", "](") if text in shown], "nothing there follows a relative link"


def test_a_package_index_links_to_no_address_that_nobody_owns(listing):
    assert listing.get_all("Project-URL", []) == []


def test_sdist_excludes_the_corpus(distributions):
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert "pyproject.toml" in names
    assert not [name for name in names if name.startswith(("conformance/corpus/", ".ci/"))]


def canonical(distribution: str) -> str:
    """The name as package indexes compare it: ``typing_extensions`` and ``typing-extensions`` are one."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def test_every_library_the_package_imports_is_a_declared_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = list(chain(project["dependencies"], *project.get("optional-dependencies", {}).values()))
    declared = {canonical(re.split(r"[^\w.-]", requirement, maxsplit=1)[0]) for requirement in requirements}
    imported = set()
    for path in (ROOT / "schedctl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    providers = metadata.packages_distributions()
    third_party = imported - sys.stdlib_module_names - {"schedctl"}
    assert {
        module: providers.get(module, [module])
        for module in third_party
        if not declared & {canonical(name) for name in providers.get(module, [])}
    } == {}


def test_installed_program_prints_its_version(bin_folder, tmp_path):
    done = run(bin_folder / "schedctl", "version", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert schedctl.__version__ in done.stdout
    assert schedctl.KUBERNETES_VERSION in done.stdout


def test_installed_program_is_a_kubectl_plugin(bin_folder, tmp_path):
    ours, theirs = (run(bin_folder / name, "version", cwd=tmp_path) for name in ("schedctl", "kubectl-schedctl"))
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)


@pytest.fixture(scope="module")
def shipped_folders(bin_folder, tmp_path_factory) -> dict[str, Path]:
    code = "import json, schedctl.shipped as s; print(json.dumps([str(s.profiles()), str(s.fixtures())]))"
    done = run(bin_folder / "python", "-c", code, cwd=tmp_path_factory.mktemp("elsewhere"))
    return dict(zip(("profiles", "fixtures"), map(Path, json.loads(done.stdout)), strict=True))


@pytest.mark.parametrize("folder", ["profiles", "fixtures"])
def test_installed_package_finds_its_shipped_files(folder, shipped_folders, bin_folder):
    assert shipped_folders[folder].is_dir()
    assert shipped_folders[folder].is_relative_to(bin_folder.parent)


def test_installed_program_names_the_path_of_the_roles(bin_folder, tmp_path):
    done = run(bin_folder / "python", "-c", "import schedctl.shipped as s; print(s.roles())", cwd=tmp_path)
    assert Path(done.stdout.strip()).read_text() == (ROOT / "deploy/clusterrole.yaml").read_text()


@pytest.mark.parametrize("profile", sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml")))
def test_the_installed_program_explains_with_every_shipped_profile(profile, shipped_folders, bin_folder, tmp_path):
    cluster = shipped_folders["fixtures"] / "clusters/shop"
    done = run(bin_folder / "schedctl", "explain", "--all-pending", "-f", cluster, "--profile", profile, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nodes are available: " in done.stdout
