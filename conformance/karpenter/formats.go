package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// Case is one question: a cluster, what may be launched, and the pods that wait.
type Case struct {
	ID            string             `json:"id"`
	NodePools     []*karpv1.NodePool `json:"nodePools"`
	InstanceTypes []InstanceType     `json:"instanceTypes"`
	Nodes         []*corev1.Node     `json:"nodes"`
	// Pods are bound where spec.nodeName is set; the others wait.
	Pods       []*corev1.Pod       `json:"pods"`
	DaemonSets []*appsv1.DaemonSet `json:"daemonSets"`
	// Remove names nodes that are to go: their pods wait as well.
	Remove []string `json:"remove"`
	// Consolidate asks for the next command of consolidation instead of what is launched for pods that wait.
	Consolidate bool `json:"consolidate"`
	// Runs says how often the case is solved; Karpenter takes domains in the order of a Go map.
	Runs int `json:"runs"`
}

// InstanceType is what a cloud offers.
type InstanceType struct {
	Name      string                                    `json:"name"`
	Labels    map[string]string                         `json:"labels"`
	Capacity  map[corev1.ResourceName]resource.Quantity `json:"capacity"`
	Offerings []Offering                                `json:"offerings"`
}

// Offering is where a type can be had, and for how much.
type Offering struct {
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
}

// Answer has one outcome for each run that came out differently.
type Answer struct {
	ID       string    `json:"id"`
	Outcomes []Outcome `json:"outcomes"`
	Error    string    `json:"error,omitempty"`
}

// Outcome is what Karpenter would do.
type Outcome struct {
	NodeClaims []NodeClaim         `json:"nodeClaims"`
	Existing   map[string][]string `json:"existing"`
	Unplaced   []string            `json:"unplaced"`
	Command    *Command            `json:"command,omitempty"`
}

// Command is what consolidation would do next.
type Command struct {
	Method       string      `json:"method"`
	Nodes        []string    `json:"nodes"`
	Replacements []NodeClaim `json:"replacements"`
}

// NodeClaim is a node that would be launched.
type NodeClaim struct {
	NodePool      string   `json:"nodePool"`
	Pods          []string `json:"pods"`
	InstanceTypes []string `json:"instanceTypes"`
	Zones         []string `json:"zones"`
	CapacityTypes []string `json:"capacityTypes"`
}
