"""Which checks of policies are judged where only those with some tags are asked for.

What is left out takes its scenarios and exemptions along, which would otherwise be noted as unused.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from schedctl.documents.spelling import did_you_mean
from schedctl.errors import UsageError
from schedctl.policy.documents import CheckPolicy
from schedctl.reports import counts


class TagSelection(msgspec.Struct, frozen=True):
    """The checks with some tags.

    Attributes:
        policies: those with such checks, and of them what these checks need.
        left_out: the names of all other checks.
        note: how many are judged, "" where no tags were asked for.
    """

    policies: Sequence[CheckPolicy]
    left_out: frozenset[str] = frozenset()
    note: str = ""


def select_by_tags(policies: Sequence[CheckPolicy], tags: Sequence[str]) -> TagSelection:
    """Return the checks that have one of some tags; all if there are no tags.

    Raises:
        UsageError: no check has one of the tags.
    """
    if not tags:
        return TagSelection(policies)
    checks = [check for policy in policies for check in policy.checks]
    known = dict.fromkeys(tag for check in checks for tag in check.tags)
    for tag in tags:
        if tag not in known:
            raise UsageError(f'no check has the tag "{tag}"', did_you_mean(tag, list(known)) if known else "")
    selected = [each for policy in policies if (each := _with_tags(policy, tags)).checks]
    judged = sum(len(policy.checks) for policy in selected)
    names = {check.name for policy in selected for check in policy.checks}
    note = f"only {judged} of {counts.of(len(checks), 'check')} judged: --tag {', '.join(tags)}"
    return TagSelection(selected, frozenset(check.name for check in checks) - names, note)


def _with_tags(policy: CheckPolicy, tags: Sequence[str]) -> CheckPolicy:
    """Return a policy with the checks that have one of some tags, and what they need."""
    left_out = [check for check in policy.checks if not set(check.tags) & set(tags)]
    checks = tuple(check for check in policy.checks if check not in left_out)
    # A scenario or exemption that no check of the policy uses stays, and is noted as it always is.
    used = {name for check in checks for name in check.judged_in}
    used_by_others = {name for check in left_out for name in check.judged_in}
    return replace(
        policy,
        checks=checks,
        scenarios=tuple(each for each in policy.scenarios if each.name in used or each.name not in used_by_others),
        exemptions=tuple(each for each in policy.exemptions if any(each.names(check.name) for check in checks)),
    )
