package main

import (
	"encoding/json"
	"io"
	"sort"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Gate is a feature gate as this version registers it.
type Gate struct {
	Name     string   `json:"name"`
	Default  bool     `json:"default"`
	Stage    string   `json:"stage"` // ALPHA, BETA, GA, DEPRECATED
	Locked   bool     `json:"locked,omitempty"`
	Requires []string `json:"requires,omitempty"` // none of these may be off while it is on
}

// listGates writes every gate that kube-scheduler of this version accepts, by name.
func listGates(w io.Writer) error {
	gate := utilfeature.DefaultMutableFeatureGate
	requires := dependencies()
	var out []Gate
	for name, spec := range gate.GetAll() {
		if name == "AllAlpha" || name == "AllBeta" {
			continue
		}
		g := Gate{Name: string(name), Default: spec.Default, Stage: string(spec.PreRelease), Locked: spec.LockToDefault}
		if spec.PreRelease == featuregate.GA {
			g.Stage = "GA"
		}
		for _, d := range requires[featuregate.Feature(name)] {
			g.Requires = append(g.Requires, string(d))
		}
		sort.Strings(g.Requires)
		out = append(out, g)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
