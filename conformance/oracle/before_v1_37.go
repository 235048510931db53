//go:build before_v1_37

package main

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func newInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

func next(sched *scheduler.Scheduler, logger klog.Logger) (*framework.QueuedPodInfo, error) {
	return sched.NextPod(logger)
}

// triesResize is whether a running pod is in the queue, which no pod is before v1.37.
func triesResize(*v1.Pod) bool {
	return false
}

func groups(context.Context, *Case, *Answer) error {
	return errors.New("pod groups are scheduled as groups from v1.37 on")
}
