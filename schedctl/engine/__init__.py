"""Runs the extension points of a profile for one pod, in the framework's order and with its short cuts.

``attempts`` is the scheduling cycle, from PreEnqueue to the choice of a node; ``filtering``, ``scoring`` and
``binding`` are its stretches, ``queue`` holds pods between attempts and ``batching`` reuses answers for equal pods.
The engine knows no plugin: it is handed a profile, and leaves facts (`Attempt`) that ``explain`` words.
"""
