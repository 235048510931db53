"""A run taken apart: the loop of ``runs`` drives these parts, which share one `RunState`.

``agenda`` knows what is due and ``patience`` when it is in vain; ``binding`` takes an attempt to a bound pod,
``requeue`` back to the queue; ``evictions`` makes pods go, ``external_events`` does what others do to the cluster.
"""
