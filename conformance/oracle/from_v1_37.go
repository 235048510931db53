//go:build !before_v1_37

package main

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
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
