"""The in-tree plugins of kube-scheduler, one module each, named like their Kubernetes name.

Each module's plugin class says in its first line what the plugin is for; `schedctl.plugins.in_tree` lists them all.
Plugins are strangers to each other: what two of them share lives in ``framework``.
"""
