"""Configurations of kube-schedulers that are no more, and what they are in the version that is read today.

`releases` knows the versions, when they were read, and which plugins each ran by itself; `documents` the fields they
had; `policies` reads the ``Policy`` of predicates and priorities, `configurations` everything of a
KubeSchedulerConfiguration. Both come to what a profile *wanted*, plugin by plugin at each point, with the defaults of
its own time merged in; `translations` puts plugins that are gone into the words of today, and `plugin_sets` finds what
has to be written so that the defaults of today come to the same. `converting` is the way in. Nothing happens unsaid:
`changes` is the report.
"""
