"""What Karpenter would do, by its own rules and not by kube-scheduler's: which nodes it launches, and which it removes.

``solving`` places pods on nodes and claims as Karpenter's scheduler does, ``consolidation`` asks it what could go.
`conformance/karpenter` holds both to the real one.
"""
