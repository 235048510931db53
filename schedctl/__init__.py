"""schedctl: a dry-run kube-scheduler.

It loads a cluster into memory, runs the scheduling framework of a chosen profile for a pod, and keeps every verdict,
score and choice that kube-scheduler computes and throws away. ``schedctl.scheduler`` is the library's front door.
"""

__version__ = "0.1.0"
KUBERNETES_VERSION = "v1.37.1"
"""The kube-scheduler whose behaviour this release reproduces; every output names it."""
