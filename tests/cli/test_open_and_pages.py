"""``--open``, ``-o html``, and commands that have no page."""

from __future__ import annotations

import stat
import webbrowser
from pathlib import Path
from urllib.parse import urlparse

import pytest

POD = "shop/web-7d9c6b5f4d-jbljm"


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """Return the addresses that a browser was asked for; temporary files are in a folder of the test."""
    addresses = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda url: addresses.append(url) or True)
    return addresses


def test_open_prints_the_answer_and_opens_it_as_a_page_of_the_owner_alone(shop, opened):
    ended = shop(POD, "--open")
    assert ended.code == 0
    assert ended.out.startswith(f"pod {POD}: UNSCHEDULABLE")
    file = Path(urlparse(opened[0]).path)
    assert f"opened {file}" in ended.err
    assert "Who refuses which node" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_no_browser_can_be_opened_the_place_of_the_page_is_told(shop, opened, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert "no browser could be opened; the page is" in shop(POD, "--open").err


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("bind", POD, "-f", "no/such/file"), id="bind"),
        pytest.param(("calibrate", "-f", "no/such/file"), id="calibrate"),
        pytest.param(("snapshot", "inspect", "no/such/file"), id="snapshot inspect"),
    ],
)
def test_a_command_without_a_page_says_which_outputs_it_has_before_any_work(schedctl, command):
    ended = schedctl(*command, "-o", "html")
    assert ended.code == 2
    assert 'unknown output "html"' in ended.err
    assert "no/such/file" not in ended.err


def test_a_check_writes_a_page_beside_its_text(schedctl, tmp_path):
    page = tmp_path / "check.html"
    release, state = "fixtures/policies/zone-loss/fails.yaml", "fixtures/policies/cluster.yaml"
    policy = "fixtures/policies/zone-loss"
    ended = schedctl("check", release, "-f", state, "-p", policy, "--report", f"html={page}")
    assert ended.code == 1
    assert "check: 3 results" in ended.out
    assert "Scenario lose-zone=eu-1a" in page.read_text()


def test_mcp_without_its_sdk_says_what_to_install(schedctl, monkeypatch):
    monkeypatch.setattr("schedctl.cli.mcp.find_spec", lambda name: None)
    ended = schedctl("mcp", "-f", "fixtures/clusters/shop")
    assert ended.code == 2
    assert "pip install 'schedctl[mcp]'" in ended.err
