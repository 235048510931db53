"""``--open``: a report as a page in a file of its own, in the browser of whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedctl.render.outputs import Report
    from schedctl.session.notifiers import Notifier

_PREFIX = "schedctl-"


def open_report(report: Report, notifier: Notifier, *, requested: bool) -> None:
    """Write a report to a page that only its owner can read, and open it; where that fails, its place is told."""
    if not requested:
        return
    import os
    import sys
    import tempfile
    import webbrowser
    from pathlib import Path

    from schedctl.render.html import documents

    handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(documents.document(report))
    sys.stdout.flush()
    opened = webbrowser.open(Path(name).as_uri())
    notifier.say(f"{'opened' if opened else 'no browser could be opened; the page is'} {name}")
