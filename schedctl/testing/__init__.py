"""For tests of schedctl and of plugins written for it: builders of objects, and the laws every plugin must satisfy.

``builders`` makes nodes, pods and clusters with good defaults, ``laws`` checks a plugin over any cluster and pod, and
``law_tests`` over many, as tests for pytest; ``examples`` draws clusters from a seed, ``strategies`` with Hypothesis,
which only those need to have installed that import it. ``sequences`` makes long random changes to ``sandboxes`` and
holds every answer from memory against one worked out anew.
"""

from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.law_tests import laws_of, plugin_on, scheduler_with
from schedctl.testing.plugin_answers import LawBroken

__all__ = ["LawBroken", "cluster", "laws_of", "node", "plugin_on", "pod", "scheduler_with"]
