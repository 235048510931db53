"""How rejections of TaintToleration read."""

from __future__ import annotations

from schedctl.framework.wording import Wording, taint

WORDING = {"taint-toleration/untolerated": Wording(lambda evidence: f"taint {taint(evidence['taint'])}")}
