"""Studies: one question asked in many scenarios, each on its own, on the cores at hand or on a cluster of machines.

A thin user of ``session``: what is asked is asked there, and an engine that exists already spreads it.
"""
