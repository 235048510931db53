"""From what people write to the pods the scheduler sees: workloads make pods, admission completes them.

``templates`` answers what pod a Deployment or any other workload would make next, as its controller would, and
``daemon_sets`` for which node a DaemonSet would make it. ``admission`` answers what the API server would make of a pod
before anything else sees it. All are pure: they read the cluster and return values, and whoever calls them decides what
to put where.
"""
