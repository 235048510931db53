package main

import (
	"encoding/json"
	"sort"

	fwk "k8s.io/kube-scheduler/framework"
)

// Case is one question: a cluster, and which of its pending pods to ask about.
type Case struct {
	ID       string            `json:"id"`
	Objects  []json.RawMessage `json:"objects"`
	Config   string            `json:"config,omitempty"`
	Pods     []string          `json:"pods,omitempty"`
	Simulate bool              `json:"simulate,omitempty"`
	Lean     bool              `json:"lean,omitempty"`    // only the decision, no matrix
	Bench    bool              `json:"bench,omitempty"`   // time SchedulePod, assume and Reserve only
	Timing   bool              `json:"timing,omitempty"`  // time PostFilter on its own
	Percent  int32             `json:"percent,omitempty"` // percentageOfNodesToScore; 100 unless told
	Groups   bool              `json:"groups,omitempty"`  // through the real queue, pod groups as groups
}

// Status is a verdict: a code, who gave it and why.
type Status struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// Score is what one plugin makes of one node.
type Score struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"`
	Weighted   int64 `json:"weighted"`
}

// PostFilter is what preemption, or whatever else runs then, came to.
type PostFilter struct {
	Status        Status   `json:"status"`
	NominatedNode string   `json:"nominatedNode,omitempty"`
	Victims       []string `json:"victims,omitempty"`
	Seconds       float64  `json:"seconds,omitempty"` // only with "timing"
}

// Cycle is everything one scheduling cycle found out about one pod.
type Cycle struct {
	Pod                  string                       `json:"pod"`
	Profile              string                       `json:"profile"`
	PreEnqueue           *Status                      `json:"preEnqueue,omitempty"`
	PreFilter            Status                       `json:"preFilter"`
	PreFilterNodes       []string                     `json:"preFilterNodes,omitempty"`
	Nodes                map[string]Status            `json:"nodes,omitempty"`
	Matrix               map[string]map[string]Status `json:"matrix,omitempty"` // plugin -> node -> status, failures only
	UnschedulablePlugins []string                     `json:"unschedulablePlugins,omitempty"`
	Message              string                       `json:"message,omitempty"`
	Scores               map[string]map[string]Score  `json:"scores,omitempty"` // node -> plugin -> score
	Totals               map[string]int64             `json:"totals,omitempty"`
	Chosen               string                       `json:"chosen,omitempty"`
	Ties                 []string                     `json:"ties,omitempty"`
	PostFilter           *PostFilter                  `json:"postFilter,omitempty"`
	Error                string                       `json:"error,omitempty"`
}

// Answer is what became of a case.
type Answer struct {
	ID      string  `json:"id"`
	Error   string  `json:"error,omitempty"`
	Cycles  []Cycle `json:"cycles"`
	Seconds float64 `json:"seconds"`
	// Placements are the pods of a bench case and their nodes, in the order of scheduling; "" for a pod that fits nowhere.
	Placements [][2]string `json:"placements,omitempty"`
	// Steps are the turns of a case with groups, in order; Gated, who never had one and why.
	Steps []Step            `json:"steps,omitempty"`
	Gated map[string]Status `json:"gated,omitempty"`
}

// Step is one turn of the scheduler: a pod group, or a pod that is in none.
type Step struct {
	Group   string   `json:"group,omitempty"`
	Pod     string   `json:"pod,omitempty"`
	Members []string `json:"members,omitempty"` // of the group, in the order of trying
	// Generated are the names of the group's placements; Generate is why there are none.
	Generated  []string                    `json:"generated,omitempty"`
	Generate   *Status                     `json:"generate,omitempty"`
	Placements []Placement                 `json:"placements,omitempty"`
	Scores     map[string]map[string]int64 `json:"scores,omitempty"` // placement -> plugin -> weighted score
	PostFilter *GroupPostFilter            `json:"postFilter,omitempty"`
	Results    []Tried                     `json:"results,omitempty"`
	Victims    []string                    `json:"victims,omitempty"`
	Condition  *Condition                  `json:"condition,omitempty"`
	Error      string                      `json:"error,omitempty"`
}

// Placement is a set of nodes in which a group was tried: each pod as far as it got, and PlacementFeasible's last word.
type Placement struct {
	Name     string  `json:"name,omitempty"`
	Pods     []Tried `json:"pods,omitempty"`
	Feasible Status  `json:"feasible"`
}

// Tried is what became of one pod.
type Tried struct {
	Pod       string `json:"pod"`
	Node      string `json:"node,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message,omitempty"`
	Nominated string `json:"nominated,omitempty"`
}

// GroupPostFilter is what PodGroupPostFilter came to, and how the group fared without its victims.
type GroupPostFilter struct {
	Status     Status            `json:"status"`
	Nominated  map[string]string `json:"nominated,omitempty"`
	Placements []Placement       `json:"placements,omitempty"`
}

// Condition is PodGroupInitiallyScheduled of a group.
type Condition struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// toStatus is a plugin's verdict as an answer tells it.
func toStatus(s *fwk.Status) Status {
	if s == nil {
		return Status{Code: fwk.Success.String()}
	}
	reasons := append([]string(nil), s.Reasons()...)
	sort.Strings(reasons) // NodeResourcesFit lists scalar resources in map order
	return Status{Code: s.Code().String(), Plugin: s.Plugin(), Reasons: reasons}
}
