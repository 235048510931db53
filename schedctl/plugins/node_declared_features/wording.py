"""How rejections of NodeDeclaredFeatures read."""

from __future__ import annotations

from schedctl.framework.wording import Wording

WORDING = {
    "node-declared-features/unmatched": Wording(lambda evidence: f"does not declare {', '.join(evidence['missing'])}")
}
