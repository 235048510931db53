"""Calibration: the decisions that a cluster still shows, made again, and what came out otherwise.

A bound pod shows where kube-scheduler put it, a pending one what it was told. Neither shows the cluster as it was. So
the state is walked back in time as far as objects carry theirs, each decision is made again on it, and where ours is
another, whatever can be found that may be the cause is said next to it. `explain` and `simulation` do not know of this;
it stands above `explain`, whose facts and words it uses::

    timelines      what came when: the objects of the state in the order in which they came
    replays        the walk back, with each decision made again on the way
    traces         what may be the cause where a decision comes out otherwise
    reports        `CalibrationReport`, and the words
"""

from __future__ import annotations
