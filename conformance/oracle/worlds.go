package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// decode reads manifests and does to them what an API server would have done.
func decode(raws []json.RawMessage) ([]runtime.Object, error) {
	dec := clientscheme.Codecs.UniversalDeserializer()
	var out []runtime.Object
	prio := map[string]int32{"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
	preempt := map[string]v1.PreemptionPolicy{}
	var defaultPrio int32
	for i, r := range raws {
		o, err := decodeServed(dec, r)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i, err)
		}
		if o == nil {
			continue
		}
		if pc, ok := o.(*schedulingv1.PriorityClass); ok {
			prio[pc.Name] = pc.Value
			if pc.PreemptionPolicy != nil {
				preempt[pc.Name] = *pc.PreemptionPolicy
			}
			if pc.GlobalDefault {
				defaultPrio = pc.Value
			}
		}
		out = append(out, o)
	}
	for _, o := range out {
		switch t := o.(type) {
		case *v1.Pod:
			corev1defaults.SetObjectDefaults_Pod(t)
			if t.UID == "" {
				t.UID = types.UID("uid-" + t.Namespace + "/" + t.Name)
			}
			if t.Namespace == "" {
				t.Namespace = "default"
			}
			if t.Spec.Priority == nil {
				p := defaultPrio
				if t.Spec.PriorityClassName != "" {
					p = prio[t.Spec.PriorityClassName]
					if pp, ok := preempt[t.Spec.PriorityClassName]; ok {
						t.Spec.PreemptionPolicy = &pp
					}
				}
				t.Spec.Priority = &p
			}
		case *v1.Node:
			corev1defaults.SetObjectDefaults_Node(t)
		case *v1.PersistentVolumeClaim:
			corev1defaults.SetObjectDefaults_PersistentVolumeClaim(t)
			if t.Namespace == "" {
				t.Namespace = "default"
			}
		case *v1.PersistentVolume:
			corev1defaults.SetObjectDefaults_PersistentVolume(t)
		case *v1.Service:
			if t.Namespace == "" {
				t.Namespace = "default"
			}
		}
		if m, ok := o.(metav1.Object); ok && m.GetUID() == "" {
			m.SetUID(types.UID("uid-" + m.GetNamespace() + "/" + m.GetName()))
		}
		// Caches of before v1.37 compare the versions of an object as numbers; the fake API server gives none.
		if m, ok := o.(metav1.Object); ok && m.GetResourceVersion() == "" {
			m.SetResourceVersion("1")
		}
	}
	return out, nil
}

// decodeServed reads one manifest; of a version that this release does not know, as the first one that it does. It is
// nil where the release has no such kind: its API server would not have taken the object.
func decodeServed(dec runtime.Decoder, raw json.RawMessage) (runtime.Object, error) {
	o, gvk, err := dec.Decode(raw, nil, nil)
	if err == nil || gvk == nil || !runtime.IsNotRegisteredError(err) {
		return o, err
	}
	for _, version := range clientscheme.Scheme.PrioritizedVersionsForGroup(gvk.Group) {
		other := version.WithKind(gvk.Kind)
		if !clientscheme.Scheme.Recognizes(other) {
			continue
		}
		var manifest map[string]any
		if err := json.Unmarshal(raw, &manifest); err != nil {
			return nil, err
		}
		manifest["apiVersion"] = version.String()
		changed, err := json.Marshal(manifest)
		if err != nil {
			return nil, err
		}
		o, _, err = dec.Decode(changed, nil, nil)
		return o, err
	}
	return nil, nil
}

// loadConfig reads and validates a KubeSchedulerConfiguration, with its defaults; an empty text is the default one.
func loadConfig(y string) (*config.KubeSchedulerConfiguration, error) {
	if y == "" {
		y = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	}
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(y), nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("not a KubeSchedulerConfiguration: %T", obj)
	}
	if e := validation.ValidateKubeSchedulerConfiguration(cfg); e != nil {
		return nil, e
	}
	return cfg, nil
}

// world is one cluster, as a fake API server serves it, and a scheduler that has seen all of it.
type world struct {
	timing bool
	ctx    context.Context
	client *fake.Clientset
	sched  *scheduler.Scheduler
	inf    informers.SharedInformerFactory
}

// build makes the world of a case and finds the pods it asks about.
func build(ctx context.Context, c *Case) (*world, []*v1.Pod, error) {
	objs, err := decode(c.Objects)
	if err != nil {
		return nil, nil, err
	}
	w, err := newWorld(ctx, c, objs)
	if err != nil {
		return nil, nil, err
	}
	var pods []*v1.Pod
	byKey := map[string]*v1.Pod{}
	for _, o := range objs {
		if p, ok := o.(*v1.Pod); ok && (p.Spec.NodeName == "" || triesResize(p)) && !ended(o) {
			pods = append(pods, p)
			byKey[p.Namespace+"/"+p.Name] = p
		}
	}
	if len(c.Pods) > 0 {
		pods = nil
		for _, k := range c.Pods {
			if p := byKey[k]; p != nil {
				pods = append(pods, p)
			} else {
				return nil, nil, fmt.Errorf("no pending pod %s", k)
			}
		}
	}
	return w, pods, nil
}

// newWorld starts a scheduler over these objects and waits until it has seen them.
func newWorld(ctx context.Context, c *Case, objs []runtime.Object) (*world, error) {
	cfg, err := loadConfig(c.Config)
	if err != nil {
		return nil, err
	}
	client := fake.NewSimpleClientset(slices.DeleteFunc(slices.Clone(objs), ended)...)
	inf := newInformers(client)
	rec := func(string) recorder { return events.NewFakeRecorder(1 << 20) }
	hundred := int32(100)
	if c.Percent != 0 {
		hundred = c.Percent
	}
	if c.Percent == -1 {
		hundred = 0
	}
	for i := range cfg.Profiles {
		if cfg.Profiles[i].PercentageOfNodesToScore == nil {
			cfg.Profiles[i].PercentageOfNodesToScore = &hundred
		}
	}
	sched, err := scheduler.New(ctx, client, inf, nil, profile.RecorderFactory(rec),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(&hundred),
		scheduler.WithExtenders(cfg.Extenders...),
	)
	if err != nil {
		return nil, err
	}
	inf.Start(ctx.Done())
	inf.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return nil, err
	}
	return &world{timing: c.Timing, ctx: ctx, client: client, sched: sched, inf: inf}, nil
}

// ended is whether a pod has run its course: kube-scheduler lists pods with
// status.phase!=Succeeded,status.phase!=Failed; the fake API server knows no field selectors.
func ended(o runtime.Object) bool {
	p, ok := o.(*v1.Pod)
	return ok && (p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed)
}

// waitGone waits until the scheduler's informers have seen the victims go.
func (w *world) waitGone(victims []string) {
	for _, v := range victims {
		parts := strings.SplitN(v, "/", 2)
		for i := 0; i < 2000; i++ {
			_, err := w.inf.Core().V1().Pods().Lister().Pods(parts[0]).Get(parts[1])
			if err != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	time.Sleep(20 * time.Millisecond)
}
