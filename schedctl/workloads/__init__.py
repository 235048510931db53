"""From what people write to the pods the scheduler sees: workloads make pods, admission completes them.

``templates`` answers what pod a Deployment or any other workload would make next, as its controller would, and
``daemon_sets`` for which node a DaemonSet would make it. ``admission`` answers what the API server would make of a pod
before anything else sees it. All are pure: they read the cluster and return values, and whoever calls them decides what
to put where.

Whole manifests take four steps, of which only the last changes anything::

    expansion    objects to workloads with all their pods, and what joins the cluster
    rollouts     how those pods take the place of the ones that run, step by step
    creation     the API server of a run: what is admitted, what is refused, what was changed, quotas
                 join() brings in what makes no pods; Admission.create() admits one pod
"""
