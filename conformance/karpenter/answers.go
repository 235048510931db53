package main

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/utils/nodepool"
)

// answer solves a case as often as it says and keeps the outcomes that differ.
func answer(c *Case) Answer {
	found := Answer{ID: c.ID}
	seen := map[string]bool{}
	for range max(1, c.Runs) {
		outcome, err := solve(c)
		if err != nil {
			found.Error = err.Error()
			return found
		}
		text, _ := json.Marshal(outcome)
		if !seen[string(text)] {
			seen[string(text)] = true
			found.Outcomes = append(found.Outcomes, outcome)
		}
	}
	return found
}

// solve asks Karpenter once, with the options that it has by default.
func solve(c *Case) (Outcome, error) {
	ctx := options.ToContext(context.Background(), &options.Options{
		PreferencePolicy:  options.PreferencePolicyRespect,
		MinValuesPolicy:   options.MinValuesPolicyStrict,
		IgnoreDRARequests: true,
		FeatureGates:      options.FeatureGates{ReservedCapacity: true},
	})
	if c.Consolidate {
		return consolidate(ctx, c)
	}
	w, err := newWorld(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	var pools []*karpv1.NodePool
	types := map[string][]*cloudprovider.InstanceType{}
	for _, each := range c.NodePools {
		pool := each.DeepCopy()
		if pool.Spec.Template.Spec.NodeClassRef == nil {
			pool.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		}
		pools = append(pools, pool)
		types[pool.Name] = instanceTypes(c.InstanceTypes)
	}
	nodepool.OrderByWeight(pools)
	topology, err := scheduling.NewTopology(ctx, w.client, w.cluster, w.nodes, pools, types, w.pending)
	if err != nil {
		return Outcome{}, err
	}
	var daemons []*corev1.Pod
	for _, each := range c.DaemonSets {
		daemons = append(daemons, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: each.Name, Namespace: each.Namespace, Labels: each.Spec.Template.Labels},
			Spec:       *each.Spec.Template.Spec.DeepCopy(),
		})
	}
	scheduler := scheduling.NewScheduler(ctx, w.client, pools, w.cluster, w.nodes, topology, types, daemons,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, nil,
		scheduling.DisableReservedCapacityFallback, scheduling.NumConcurrentReconciles(1),
		scheduling.MinValuesPolicy(options.MinValuesPolicyStrict))
	results, err := scheduler.Solve(ctx, w.pending)
	if err != nil {
		return Outcome{}, err
	}
	return outcomeOf(results.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes)), nil
}

// outcomeOf returns results in an order that does not depend on the run.
func outcomeOf(results scheduling.Results) Outcome {
	found := Outcome{NodeClaims: []NodeClaim{}, Existing: map[string][]string{}, Unplaced: []string{}}
	for _, each := range results.NewNodeClaims {
		found.NodeClaims = append(found.NodeClaims, nodeClaimOf(each))
	}
	slices.SortFunc(found.NodeClaims, func(a, b NodeClaim) int { return slices.Compare(a.Pods, b.Pods) })
	for _, each := range results.ExistingNodes {
		if len(each.Pods) > 0 {
			found.Existing[each.Name()] = names(each.Pods)
		}
	}
	for pod := range results.PodErrors {
		found.Unplaced = append(found.Unplaced, pod.Name)
	}
	slices.Sort(found.Unplaced)
	return found
}

func nodeClaimOf(each *scheduling.NodeClaim) NodeClaim {
	claim := NodeClaim{
		NodePool:      each.NodePoolName,
		Pods:          names(each.Pods),
		Zones:         sorted(each.Requirements.Get(corev1.LabelTopologyZone).Values()),
		CapacityTypes: sorted(each.Requirements.Get(karpv1.CapacityTypeLabelKey).Values()),
	}
	for _, instanceType := range each.InstanceTypeOptions {
		claim.InstanceTypes = append(claim.InstanceTypes, instanceType.Name)
	}
	slices.Sort(claim.InstanceTypes)
	return claim
}

func names(pods []*corev1.Pod) []string {
	var found []string
	for _, pod := range pods {
		found = append(found, pod.Name)
	}
	return sorted(found)
}

func sorted(values []string) []string {
	found := append([]string{}, values...)
	slices.Sort(found)
	return found
}
