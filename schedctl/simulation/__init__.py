"""Whole runs: many pods through the real queue and the whole cycle, on a clock that only a run moves.

``runs`` is the loop: it takes pods out of the queue, attempts, places and binds them, carries out evictions, and tells
the queue of everything that happens, until nothing can move any more. What is to happen besides, at a time of its own
or in answer to what happened, comes in as ``happenings``; which of several equally good nodes is taken is decided in
``choices``; what became of each pod is an ``outcome``, and every step of it a ``record`` of the timeline, which can be
written, read and compared (``timelines``). ``telling`` turns changes of the cluster into events, ``standing`` pods into
what they are on a node.

``releases`` is the way from manifests to a run: it stands for the controllers, which create, replace (``replacements``)
and remove pods while the run goes on. ``accounts`` makes the report of it (``reports``), with how full and even the
nodes are before and after (``utilisation``); ``comparisons`` puts several such reports side by side.

``what_ifs`` are changes to the cluster that somebody thinks about (``what_if_words`` reads them, ``node_choices`` finds
the nodes they name). ``drains`` empties nodes as kubectl does, pod by pod as the ``budgets`` let them, with the
controllers that make them again (``returning``); ``capacities`` counts how many more pods fit. Each has its report
beside it.

Nothing here words anything for people or looks at a wall clock.
"""
