"""What the reasons of Kubernetes' plugins look like, to find whose a line of kube-scheduler is."""

from __future__ import annotations

import re
from functools import cache

from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import Code
from schedctl.plugins.in_tree import IN_TREE


@cache
def reason_patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return what each plugin's reasons look like, those without a gap first: a gap takes any text."""
    declared = [
        (reason, name)
        for name, plugin in IN_TREE.items()
        for reason in vars(plugin).values()
        if isinstance(reason, Reason) and reason.code is not Code.ERROR and not re.fullmatch(r"\{\w+\}", reason.text)
    ]
    declared.sort(key=lambda each: bool(each[0].fields))
    return [
        (re.compile("(.+)".join(map(re.escape, re.split(r"\{\w+\}", reason.text))), re.DOTALL), name)
        for reason, name in declared
    ]
