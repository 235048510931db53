"""Text to values that know their place, for everything that is read: manifests, configurations, policies and settings.

`texts` cuts a file into documents; `yaml_values` and `json_values` read the many and large ones to plain values, and
`trees` the small and strict ones to nodes with line and column, both by the one table of `scalars`. `decoding` makes
structs of trees, `findings` and `heads` say where in a document something is wrong, and `spelling` what was meant.
"""
