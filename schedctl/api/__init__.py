"""Kubernetes objects as far as the scheduler reads them, and the exact meaning of their fields.

Each kind is a frozen msgspec struct of what some plugin, the queue or an explanation reads, and ``kinds`` lists them
all; everything else in a manifest (environment, probes, commands, status text) never enters memory. ``quantities``,
``selectors``, ``tolerations`` and ``topology`` hold the semantics shared by plugins, and ``defaults`` what the API
server would have filled in.
"""
