"""Which nodes could be given back, with every pod placed again by kube-scheduler's own cycle.

``rules`` says which nodes may go at all, as autoscalers and kubectl have it; ``removals`` searches for the largest set
of them whose pods find another place, and has a simulated drain carry it out; ``bounds`` says how many can go at most.
"""
