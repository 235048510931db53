"""KubeSchedulerConfiguration: which plugins run at which point, in which order, with which weights and arguments.

`loading` reads a file into the structs of `types` and `args`, `defaults` adds what Kubernetes adds, and `validation`
objects where kube-scheduler would; `expansion` then asks the registry, which lives above this package, what each plugin
implements, and gives the ordered plugins of each extension point. `legacy` converts what kube-schedulers of other times
read, `differences` compares two configurations in effect, and `settings_file` and `custom_kinds` are schedctl's own.
"""
