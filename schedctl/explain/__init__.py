"""From the facts of an attempt to an explanation: why not, why here, and what would help.

``explanations`` answers about one pod and makes the report, ``reports`` is what comes out. ``evidence`` reads refusals
off the columns as plain values, ``groups`` puts them together by cause, ``wording`` says them; ``facts`` and ``scores``
read the rest. ``hints`` looks for next steps: ``typos`` and ``remedies`` propose changes (``pod_changes``,
``cluster_changes``), ``trials`` tries them.
"""
