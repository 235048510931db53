"""The in-tree plugins of kube-scheduler, a module or a package each, named like their Kubernetes name.

The first line of a plugin's class says what it is for; `schedctl.plugins.in_tree` lists them all.
Plugins are strangers to each other: what two of them share lives in ``framework``.
"""
