"""The report files of a check that could not be made, so that no older one stands in their place and looks green."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

from schedctl.errors import Problem, SchedctlError, UsageError
from schedctl.session.notifiers import Notifier


class FailureReports:
    """Writes the report files with what went wrong where a check ends in a fault; the fault goes on.

    Attributes:
        targets: what to write, as `check_outputs.target` returns it.
        inputs: the names of what is read, which is never written over: files, folders, globs.
        warnings: what was odd about it, which is said beside the fault; a report of the check would note it.
        redacted: whether what went wrong is not told in files, since it names objects.
    """

    def __init__(self, targets: Sequence[Any], inputs: Iterable[str], notifier: Notifier) -> None:
        self.targets = targets
        self.inputs = [name for name in inputs if name]
        self.warnings: Sequence[Problem] = ()
        self.redacted = False
        self._notifier = notifier

    def __enter__(self) -> FailureReports:
        """Return itself, whose targets and inputs may still change."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the reports if the check ended in a fault."""
        if not isinstance(fault, SchedctlError):
            return
        if not self._notifier.quiet:
            self._notifier.report(self.warnings, "warning")
        if self.targets:
            self._write(fault)

    def _write(self, fault: SchedctlError) -> None:
        import io

        from schedctl.render import check_outputs
        from schedctl.session import check_failures, report_files

        if self.redacted:
            fault = SchedctlError("the check could not be made; why is told on standard error, with names")
        report = check_failures.report_of(fault)
        read = self._files_read()
        for target in self.targets:
            if os.path.realpath(target.file) in read:
                continue
            text = io.StringIO()
            check_outputs.write(report, target.form, text)
            try:
                report_files.write(target.file, text.getvalue())
            except UsageError as second:  # the first fault is what the command ends with
                self._notifier.say(f"error: {second}")

    def _files_read(self) -> set[str]:
        """Return the real paths of all files behind the inputs, as far as they are there."""
        from schedctl.sources import files

        found = files.find(self.inputs, recursive=True, stdin_filename="", problems=[], warnings=[])
        return {os.path.realpath(source.path) for source in found if source.path is not None}
