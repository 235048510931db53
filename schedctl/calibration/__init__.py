"""Calibration: the decisions that a cluster still shows, made again, and what came out otherwise.

`timelines` orders what came when, `replays` walks the state back and makes each decision again on the way, `traces`
finds what may be the cause where one comes out otherwise, and `report_builder` makes the report. It stands above
`explain`, whose facts and words it uses, and `simulation`; neither knows of it.
"""

from __future__ import annotations
