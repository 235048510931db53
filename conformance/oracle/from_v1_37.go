//go:build !before_v1_37

package main

import (
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func newInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

func next(sched *scheduler.Scheduler, logger klog.Logger) (*framework.QueuedPodInfo, error) {
	entity, err := sched.NextEntity(logger)
	if err != nil {
		return nil, err
	}
	return entity.(*framework.QueuedPodInfo), nil
}

// triesResize is whether a pod is in the queue though it runs: it waits for the kubelet to grant it more, and the
// scheduler is to make room.
func triesResize(p *v1.Pod) bool {
	on := utilfeature.DefaultFeatureGate.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption)
	return on && p.Spec.NodeName != "" && resource.IsPodResizeDeferred(p)
}
