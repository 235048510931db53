"""The scheduling queue: which pod is tried next, which wait, and what requeues them (KEP-4247).

`queues` is active, backoff and unschedulable pods in one; `hints` asks plugins whether an event could help;
`preemptors` are pods whose victims are on their way out; `intervals` are its times.
"""
