"""Which schedctl this is, and which kube-scheduler it behaves like; beneath all else, as every document names both."""

__version__ = "0.1.0"
KUBERNETES_VERSION = "v1.37.1"
"""The kube-scheduler whose behaviour this release reproduces; every output names it."""
