"""From the facts of an attempt to an explanation: why not, why here, and what would help.

``fit_error`` words the FailedScheduling line byte for byte as kube-scheduler does.
"""
