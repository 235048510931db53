"""Configurations of kube-schedulers of other releases, and what they are in the version that is read today.

`policies` and `configurations` come to what a profile ran, plugin by plugin at each point, with the defaults of its own
release (`releases`) merged in; `translations` and `plugin_sets` find what has to be written today for the same. The way
in is `converting`, which nobody imports who reads a configuration of today; `changes` is the report.
"""
