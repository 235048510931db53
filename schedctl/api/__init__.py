"""Kubernetes objects as far as the scheduler reads them, and the exact meaning of their fields.

Each kind is a frozen msgspec struct that holds only what some plugin, the queue or an explanation reads; everything
else in a manifest (environment, probes, commands, status text) never enters memory. A field that Kubernetes tells
apart as *absent* and *empty* is ``X | None`` here, and JSON ``null`` means absent as it does to the API server.
``kinds`` lists them all; ``quantities``, ``selectors`` and ``tolerations`` hold the semantics shared by plugins, and
``defaults`` what the API server would have filled in.
"""
