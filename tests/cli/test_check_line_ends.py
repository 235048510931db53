"""Files that were saved on Windows, with CR LF line ends, are judged as others, and findings have the same places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_check import BIG, CONFIG, FITS, NODE, POLICY

EXPRESSION = """\
    - name: placed
      scope: workload
      validations:
        - message: is on a node
          expression: |
            workload.replicas == 2 &&
            workload.pods.all(p, p.scheduled)
"""
FILES = {
    "node.yaml": NODE,
    "big.yaml": f"# big\n{BIG}---\n{BIG.replace('name: big', 'name: more')}",
    "policy.yaml": POLICY + FITS + EXPRESSION,
    ".schedctl.yaml": CONFIG + "check: {failOn: warning}\n",
}


@pytest.mark.parametrize("saved", [*FILES, "all"])
def test_line_ends_of_windows_change_nothing(schedctl, tmp_path, monkeypatch, saved):
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    ends = []
    for is_windows in (False, True):
        for name, text in FILES.items():
            end = "\r\n" if is_windows and saved in (name, "all") else "\n"
            Path(name).write_bytes(text.replace("\n", end).encode())
        ended = schedctl("check", "big.yaml", "-f", "node.yaml", "-p", "policy.yaml")
        ends.append((ended.code, ended.out, ended.err))
    assert ends[0] == ends[1]
    assert ends[0][0] == 1
    assert "big.yaml:11:63: " in ends[0][1]
