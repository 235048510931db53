"""From what people write to the pods the scheduler sees: workloads make pods, admission completes them.

``pod_templates`` answers what pod a workload would make next, ``daemon_sets`` for which node, and ``admission`` what
the API server would make of it. All are pure: they read the cluster and return values. Whole manifests take four steps,
of which only the last changes anything::

    expansion    objects to workloads with all their pods, and what joins the cluster
    rollouts     how those pods take the place of the ones that run (ownership, changes), step by step
    api_server   what is admitted, what is refused, what was changed, quotas
                 join() brings in what makes no pods; Admission.create() admits one pod
"""
