"""A live cluster: reached as kubectl reaches it, read for no more than scheduling reads, changed on request only.

This is the only package that talks to an API server, and the only one that imports the ``kubernetes`` client, whose
configuration knows kubeconfigs, contexts, certificates, tokens and credential plugins::

    kubeconfigs    which cluster, as whom: what kubectl's flags and files say
    connections    one connection: requests, retries, and errors in words a person can use
    listing        every kind that is read, side by side, page by page, as one consistent list each
    watching       every kind that was listed, as it changes
    events         what schedulers have recorded about pods, and what is recorded of a bind
    binding        a pod bound to its node, if all that was decided on is as it was

Around ``binding``: ``observed_state`` finds what a decision was made on and what of it has changed, ``plans`` holds the
decision, ``prebinds``, ``prebind_volumes`` and ``prebind_devices`` know what kube-scheduler writes before a bind, and
``journal`` takes it back. ``objects`` reads and lists what an API server keeps.

Below ``connections``: ``credential_plugins`` runs the programs that a kubeconfig names, ``transports`` makes
connections of that, and ``faults`` has the words for what goes wrong. ``scheduler_configurations`` knows where
installers keep the configuration of kube-scheduler.
"""

from __future__ import annotations
