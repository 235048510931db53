//go:build before_v1_36

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type recorder = events.EventRecorder

func schedule(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, state fwk.CycleState, queued *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
	return s.SchedulePod(ctx, f, state, queued.Pod)
}

// noteClaims writes nothing: no device takes any of its node's own resources.
func noteClaims(context.Context, *v1.Pod, fwk.CycleState) {}
