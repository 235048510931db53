"""Runs the extension points of a profile for one pod, in the framework's order and with its short cuts.

``attempts`` is one pod's scheduling cycle from PreEnqueue to the choice of a node, leaving an `Attempt` of facts and no
prose; ``filtering``, ``scoring`` and ``binding`` are its three stretches, ``sampling`` the choice of nodes to look at.
``nominators`` knows which pods are promised to which nodes, ``handles`` is what plugins see of all this, and
``fit_error`` words the FailedScheduling line. Between attempts pods are in ``queues``, where ``hinting`` says which
event may help whom and ``clocks`` has the time; ``preemptors`` have evictions under way. The engine knows no plugin: it
is handed a profile.
"""
