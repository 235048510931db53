"""A live cluster: reached as kubectl reaches it, read for no more than scheduling reads, changed on request only.

This is the only package that talks to an API server, and the only one that imports the ``kubernetes`` client::

    kubeconfigs, credential_plugins         which cluster, as whom: kubectl's flags, files and plugins
    transports, connections, faults, codes  one connection: requests, retries, and errors in words a person can use
    listing, pages                          every kind that is read, page by page, as one consistent list each
    watching                                every kind that was listed, as it changes
    events                                  what schedulers have recorded about pods, and what is recorded of a bind
    plans, prebinds, prebind_*              a decision, and what kube-scheduler writes before a bind
    observed_state, objects                 what a decision was made on, and what of it has changed
    binding, journal, plugin_journals       the pod bound to its node, or everything taken back
    scheduler_configurations                where installers keep the configuration of kube-scheduler
"""

from __future__ import annotations
