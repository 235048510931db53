"""From a report to bytes: one module per output, each of which reads the report and decides nothing.

``outputs`` knows the values of ``-o`` and picks the module; ``terminals`` knows what a stream can show, ``layout`` how
to fill it. Everything that came from a cluster passes through ``sanitise`` before a terminal sees it.
"""
