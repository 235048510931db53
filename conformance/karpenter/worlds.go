package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

const aws = "karpenter.k8s.aws/instance-"

// registerLabels makes the labels of instance types known, as the provider of a cloud does when it starts.
func registerLabels() {
	for _, each := range []string{"category", "family", "generation", "size", "cpu", "memory", "gpu-count"} {
		karpv1.WellKnownLabels.Insert(aws + each)
	}
}

// world is a cluster in memory as Karpenter keeps it.
type world struct {
	client  client.Client
	cluster *state.Cluster
	nodes   []*state.StateNode
	pending []*corev1.Pod
}

// newWorld loads a case: its nodes with their pods, and the pods that wait.
func newWorld(ctx context.Context, c *Case) (*world, error) {
	removed := map[string]bool{}
	for _, name := range c.Remove {
		removed[name] = true
	}
	w := &world{}
	var objects []client.Object
	nodes := c.Nodes
	if c.Consolidate {
		nodes = nil
		for _, node := range c.Nodes {
			nodes = append(nodes, ready(node))
		}
		objects = append(objects, managed(c)...)
	}
	for _, node := range nodes {
		objects = append(objects, node.DeepCopy())
	}
	for _, pod := range c.Pods {
		objects = append(objects, pod.DeepCopy())
		if pod.Spec.NodeName == "" || removed[pod.Spec.NodeName] {
			w.pending = append(w.pending, pod.DeepCopy())
		}
	}
	w.client = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			return []string{o.(*corev1.Pod).Spec.NodeName}
		}).Build()
	w.cluster = state.NewCluster(clock.RealClock{}, w.client, nil)
	for _, object := range objects {
		if claim, ok := object.(*karpv1.NodeClaim); ok {
			w.cluster.UpdateNodeClaim(claim.DeepCopy())
		}
	}
	for _, node := range nodes {
		if err := w.cluster.UpdateNode(ctx, node.DeepCopy()); err != nil {
			return nil, fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
	for _, pod := range c.Pods {
		if pod.Spec.NodeName == "" {
			continue
		}
		if err := w.cluster.UpdatePod(ctx, pod.DeepCopy()); err != nil {
			return nil, fmt.Errorf("pod %s: %w", pod.Name, err)
		}
	}
	for _, node := range w.cluster.DeepCopyNodes().Active() {
		if !removed[node.Name()] {
			w.nodes = append(w.nodes, node)
		}
	}
	return w, nil
}

// instanceTypes returns the types of a case in Karpenter's own form. They are made anew for each NodePool and run, since
// solving narrows them.
func instanceTypes(types []InstanceType) []*cloudprovider.InstanceType {
	var found []*cloudprovider.InstanceType
	for _, each := range types {
		requirements := scheduling.NewLabelRequirements(each.Labels)
		var zones, capacityTypes []string
		var offerings cloudprovider.Offerings
		for _, offering := range each.Offerings {
			zones = append(zones, offering.Zone)
			capacityTypes = append(capacityTypes, offering.CapacityType)
			offerings = append(offerings, &cloudprovider.Offering{
				Requirements: scheduling.NewLabelRequirements(map[string]string{
					corev1.LabelTopologyZone:    offering.Zone,
					karpv1.CapacityTypeLabelKey: offering.CapacityType,
				}),
				Price:     offering.Price,
				Available: true,
			})
		}
		requirements.Add(
			scheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, zones...),
			scheduling.NewRequirement(karpv1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, capacityTypes...),
		)
		found = append(found, &cloudprovider.InstanceType{
			Name:         each.Name,
			Requirements: requirements,
			Offerings:    offerings,
			Capacity:     corev1.ResourceList(each.Capacity),
			Overhead:     &cloudprovider.InstanceTypeOverhead{},
		})
	}
	return found
}
