"""Placement policies: what must be true of where pods go, and whether it is.

A `CheckPolicy` states checks; manifests are placed on a state, in the baseline and in each scenario, and every check is
judged on what came of it. The verdicts are facts with places in the team's own files; ``render`` words the outputs.
"""

from __future__ import annotations
