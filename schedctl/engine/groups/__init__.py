"""The cycle of a pod group: tried placement by placement, all of it in a fork, and taken as a whole or not at all.

`cycles` is the way in; `trials` is what became of one placement, pod by pod, `rules` what all pods of a group must have
in common. The plugins' side is `schedctl.framework.group_points`.
"""
