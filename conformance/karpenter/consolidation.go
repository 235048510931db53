package main

import (
	"context"
	"time"

	"github.com/awslabs/operatorpkg/option"
	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/events"
	testv1alpha1 "sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

// cloud offers the instance types of a case; nothing is launched.
type cloud struct {
	cloudprovider.CloudProvider
	types []InstanceType
}

func (c *cloud) GetInstanceTypes(context.Context, *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return instanceTypes(c.types), nil
}

func (c *cloud) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&testv1alpha1.TestNodeClass{}}
}

// accepting takes every command as it was computed, where Karpenter would wait and look again.
type accepting struct{}

func (accepting) Validate(_ context.Context, command disruption.Command, _ time.Duration) (disruption.Command, error) {
	return command, nil
}

// consolidate asks for the next command of the methods of consolidation, in the order in which Karpenter tries them.
func consolidate(ctx context.Context, c *Case) (Outcome, error) {
	w, err := newWorld(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	recorder, provider := events.NewRecorder(&record.FakeRecorder{}), &cloud{types: c.InstanceTypes}
	time := clock.RealClock{}
	provisioner := provisioning.NewProvisioner(w.client, recorder, provider, w.cluster, time)
	queue := disruption.NewQueue(w.client, recorder, w.cluster, time, provisioner)
	base := disruption.MakeConsolidation(time, w.cluster, w.client, provisioner, provider, recorder, queue)
	accept := option.Function[disruption.MethodOptions](disruption.WithValidator(accepting{}))
	methods := []disruption.Method{
		disruption.NewEmptiness(base, accept),
		disruption.NewMultiNodeConsolidation(base, accept),
		disruption.NewSingleNodeConsolidation(base, accept),
	}
	for _, method := range methods {
		candidates, err := disruption.GetCandidates(ctx, w.cluster, w.client, recorder, time, provider, method.ShouldDisrupt, method.Class(), queue)
		if err != nil {
			return Outcome{}, err
		}
		budgets, err := disruption.BuildDisruptionBudgetMapping(ctx, w.cluster, time, w.client, provider, recorder, method.Reason())
		if err != nil {
			return Outcome{}, err
		}
		commands, err := method.ComputeCommands(ctx, budgets, candidates...)
		if err != nil {
			return Outcome{}, err
		}
		if len(commands) > 0 {
			return Outcome{Command: commandOf(method, commands[0])}, nil
		}
	}
	return Outcome{}, nil
}

// commandOf returns a command in an order that does not depend on the run.
func commandOf(method disruption.Method, command disruption.Command) *Command {
	found := &Command{Method: method.ConsolidationType(), Nodes: []string{}}
	for _, candidate := range command.Candidates {
		found.Nodes = append(found.Nodes, candidate.Name())
	}
	found.Nodes = sorted(found.Nodes)
	for _, each := range command.Replacements {
		found.Replacements = append(found.Replacements, nodeClaimOf(each.NodeClaim))
	}
	return found
}

// nodeClass names the only node class of the cloud.
func nodeClass() *karpv1.NodeClassReference {
	return &karpv1.NodeClassReference{Group: "karpenter.test.sh", Kind: "TestNodeClass", Name: "default"}
}

// managed returns what Karpenter reads besides nodes and pods: NodePools, which are ready, claims and DaemonSets.
func managed(c *Case) []client.Object {
	var found []client.Object
	for _, each := range c.DaemonSets {
		found = append(found, each.DeepCopy())
	}
	for _, each := range c.NodePools {
		pool := each.DeepCopy()
		pool.Spec.Template.Spec.NodeClassRef = nodeClass()
		pool.StatusConditions().SetTrue(karpv1.ConditionTypeValidationSucceeded)
		pool.StatusConditions().SetTrue(karpv1.ConditionTypeNodeClassReady)
		pool.StatusConditions().SetTrue(status.ConditionReady)
		found = append(found, pool)
	}
	for _, node := range c.Nodes {
		claim := &karpv1.NodeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels},
			Spec:       karpv1.NodeClaimSpec{NodeClassRef: nodeClass(), Taints: node.Spec.Taints},
			Status: karpv1.NodeClaimStatus{
				ProviderID: node.Spec.ProviderID, NodeName: node.Name,
				Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable,
			},
		}
		for _, each := range []string{
			karpv1.ConditionTypeLaunched, karpv1.ConditionTypeRegistered, karpv1.ConditionTypeInitialized,
			karpv1.ConditionTypeConsolidatable,
		} {
			claim.StatusConditions().SetTrue(each)
		}
		found = append(found, claim)
	}
	return found
}

// ready returns a node whose kubelet reports that it is.
func ready(node *corev1.Node) *corev1.Node {
	node = node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return node
}
