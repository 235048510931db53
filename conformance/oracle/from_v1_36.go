//go:build !before_v1_36

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
)

type recorder = events.EventRecorderLogger

func schedule(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, state fwk.CycleState, queued *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
	return s.SchedulePod(ctx, f, state, queued)
}

// noteClaims writes what the pod's claims take of its node into its status, as assuming it does.
func noteClaims(ctx context.Context, assumed *v1.Pod, state fwk.CycleState) {
	if utilfeature.DefaultFeatureGate.Enabled("DRANodeAllocatableResources") {
		statuses := dynamicresources.ExtractPodNodeAllocatableResourceClaimStatus(klog.FromContext(ctx), state, assumed.Spec.NodeName)
		assumed.Status.NodeAllocatableResourceClaimStatuses = statuses
	}
}
