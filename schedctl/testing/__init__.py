"""For tests of schedctl and of plugins written for it: builders of objects, and the laws every plugin must satisfy.

``builders`` makes nodes, pods and clusters with good defaults; ``laws`` checks a plugin over any cluster and pod.
"""
