"""From a report to bytes: one module per output, each of which reads the report and decides nothing.

``outputs`` knows the values of ``-o`` and picks the module; ``terminals`` knows what a stream can show, ``layout`` how
to fill it. ``texts`` is for people, ``names`` and ``machine`` are for scripts, ``jsonpath`` is kubectl's template
language.
Everything that came from a cluster passes through ``sanitise`` before a terminal sees it. Terminal libraries are
imported by the text modules only, when they are used.
"""
