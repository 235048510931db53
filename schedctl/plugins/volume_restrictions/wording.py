"""How rejections of VolumeRestrictions read: who uses the disk or the claim."""

from __future__ import annotations

from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, few
from schedctl.plugins.volume_restrictions.sources import CLAIM

_KINDS = {CLAIM: "claim"}


def _in_use(evidence: Evidence) -> str:
    return "; ".join(
        f"{_KINDS.get(each['kind'], each['kind'])} {each['name']} is in use by {few(each['pods'])}"
        for each in evidence.get("claims") or evidence.get("disks") or ()
    )


WORDING = {"volume-restrictions": Wording(_in_use)}
