"""What schedctl does not yet do as kube-scheduler does, by family of the corpus; each is a strict expected failure."""

NOT_YET = {
    "preemption_pdb": "persistent volumes and dynamic resource allocation are not modelled yet",
    "volumes": "persistent volumes are not modelled yet",
    "volume_states": "persistent volumes are not modelled yet",
    "storage_scores": "persistent volumes are not modelled yet",
    "csi_limits": "attach limits are not modelled yet",
    "inline_disks": "in-line disks are not modelled yet",
    "devices": "dynamic resource allocation is not modelled yet",
    "devices_advanced": "dynamic resource allocation is not modelled yet",
    "devices_claims": "dynamic resource allocation is not modelled yet",
    "devices_extended": "dynamic resource allocation is not modelled yet",
    "sequence_claims": "persistent volumes and devices are not modelled yet",
}
