"""KubeSchedulerConfiguration: which plugins run at which point, in which order, with which weights and arguments.

`loading` reads a file and finds all its problems: `yaml_trees` or `json_trees` turns text into a tree that knows its
lines, `decoding` the tree into the structs of `types` and `args`, `defaults` adds what Kubernetes adds, and
`validation` objects where kube-scheduler would. `expansion` then asks the registry, which lives above this package,
what each plugin implements, and gives the ordered plugins of each extension point. `legacy` does the same for what
kube-schedulers of other times read, and `differences` compares two configurations in effect.
"""
