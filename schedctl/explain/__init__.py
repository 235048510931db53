"""From the facts of an attempt to an explanation: why not, why here, and what would help.

``explanations`` answers about one pod and makes the report, ``reports`` is what comes out. ``evidence`` reads refusals
off the columns as plain values, ``groups`` puts them together by cause, ``wording`` says them; ``facts`` and ``scores``
read the rest. ``hints`` looks for next steps: ``typos`` and ``remedies`` propose changes (``pod_changes``,
``cluster_changes``), ``trials`` tries them; ``wakings`` lists what would have the pod tried again. ``comparisons`` puts
the answers under several configurations side by side. ``decisions`` carries a cycle to its end, for what it would
write, and ``bind_reports`` is what comes out of that.
"""
