"""Holding schedctl against the real kube-scheduler: the oracle's case and answer formats, spoken by us.

``python -m schedctl.conformance answer`` reads cases and writes answers in the oracle's format, ``diff`` classifies
every difference between two files of answers, ``replay`` compares with a recorded corpus. ``conformance/README.md`` in
the repository says how cases are made and recorded.
"""
