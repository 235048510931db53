"""A live cluster: reached as kubectl reaches it, read for no more than scheduling reads, changed on request only.

This is the only package that talks to an API server, and the only one that imports the ``kubernetes`` client, whose
configuration knows kubeconfigs, contexts, certificates, tokens and credential plugins::

    access         which cluster, as whom: what kubectl's flags say
    connections    one connection: requests, retries, and errors in words a person can use
    listing        every kind that is read, side by side, page by page, as one consistent list each
    watching       every kind that was listed, as it changes
    events         what schedulers have recorded about pods
    binding        a pod bound to its node, if all that was decided on is as it was

Around ``binding``: ``sightings`` finds what a decision was made on and what of it has moved, ``prebinds`` knows what
kube-scheduler writes before a bind (``device_configurations`` is part of that), ``journal`` takes it back,
``ownership`` says whose pods may be bound, and ``recording`` writes the event.

Below ``connections``: ``kubeconfigs`` finds the context that is meant, ``credential_plugins`` runs the programs that it
names, ``transports`` makes connections of that, and ``faults`` has the words for what goes wrong.
``scheduler_configurations`` knows where installers keep the configuration of kube-scheduler.
"""

from __future__ import annotations
