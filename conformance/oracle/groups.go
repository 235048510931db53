//go:build !before_v1_37

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	core "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1beta1"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const (
	mostRounds = 3   // whoever preempts is asked again, and may have to preempt once more
	mostSteps  = 200 // of one case; a queue that never empties is an error
)

// watcher stands between the scheduler and a profile's framework: what the framework answers is written down, and made
// the same in each run (placements in the order of their names, of equal scores the first name).
type watcher struct {
	framework.Framework
	log *stepLog
}

// stepLog is what happens while one pod or one group is scheduled.
type stepLog struct {
	sync.Mutex
	step       *Step
	placements *[]Placement // where attempts go: the step's, or those of its preemption
	generated  []string     // the names of the placements that are being tried
}

func (l *stepLog) placement() *Placement {
	if l.placements == nil || len(*l.placements) == 0 {
		return nil
	}
	return &(*l.placements)[len(*l.placements)-1]
}

func (w *watcher) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, st := w.Framework.RunScorePlugins(ctx, state, pod, nodes)
	names := make([]string, len(scores))
	for i := range scores {
		names[i] = scores[i].Name
	}
	sort.Strings(names)
	for i := range scores {
		at, _ := slices.BinarySearch(names, scores[i].Name)
		scores[i].TotalScore = scores[i].TotalScore*int64(len(names)) + int64(len(names)-1-at)
	}
	return scores, st
}

func (w *watcher) RunPlacementGeneratePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, nodes []fwk.NodeInfo) ([]*fwk.Placement, *fwk.Status) {
	placements, st := w.Framework.RunPlacementGeneratePlugins(ctx, state, group, nodes)
	slices.SortFunc(placements, func(a, b *fwk.Placement) int { return strings.Compare(a.Name, b.Name) })
	w.log.Lock()
	defer w.log.Unlock()
	w.log.generated = nil
	for _, p := range placements {
		w.log.generated = append(w.log.generated, p.Name)
	}
	if w.log.placements == &w.log.step.Placements {
		w.log.step.Generated = w.log.generated
		if !st.IsSuccess() {
			o := toStatus(st)
			w.log.step.Generate = &o
		}
	}
	return placements, st
}

func (w *watcher) RunPlacementFeasiblePlugins(ctx context.Context, state fwk.PlacementCycleState, group fwk.PodGroupInfo, progress framework.PlacementProgress) *fwk.Status {
	st := w.Framework.RunPlacementFeasiblePlugins(ctx, state, group, progress)
	w.log.Lock()
	defer w.log.Unlock()
	l := w.log
	if progress.Remaining == len(group.GetUnscheduledPods()) { // nobody has been tried yet: a new placement begins
		*l.placements = append(*l.placements, Placement{})
		if at := len(*l.placements) - 1; at < len(l.generated) {
			l.placement().Name = l.generated[at]
		}
	}
	l.placement().Feasible = toStatus(st)
	return st
}

func (w *watcher) RunPlacementScorePlugins(ctx context.Context, state fwk.PodGroupCycleState, group fwk.PodGroupInfo, assignments []*fwk.PodGroupAssignments, states []fwk.PlacementCycleState) ([]fwk.PlacementPluginScores, *fwk.Status) {
	scores, st := w.Framework.RunPlacementScorePlugins(ctx, state, group, assignments, states)
	names := make([]string, len(scores))
	for i := range scores {
		names[i] = scores[i].Placement.Name
	}
	sort.Strings(names)
	w.log.Lock()
	defer w.log.Unlock()
	for i := range scores {
		if w.log.placements == &w.log.step.Placements {
			if w.log.step.Scores == nil {
				w.log.step.Scores = map[string]map[string]int64{}
			}
			each := map[string]int64{}
			for _, s := range scores[i].Scores {
				each[s.Name] = s.Score
			}
			w.log.step.Scores[scores[i].Placement.Name] = each
		}
		at, _ := slices.BinarySearch(names, scores[i].Placement.Name)
		scores[i].TotalScore = scores[i].TotalScore*int64(len(names)) + int64(len(names)-1-at)
	}
	return scores, st
}

func (w *watcher) RunPodGroupPostFilterPlugins(ctx context.Context, state *framework.CycleState, group fwk.PodGroupInfo, again fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	pf := &GroupPostFilter{}
	w.log.Lock()
	w.log.step.PostFilter = pf
	w.log.placements = &pf.Placements
	w.log.Unlock()
	res, st := w.Framework.RunPodGroupPostFilterPlugins(ctx, state, group, again)
	w.log.Lock()
	defer w.log.Unlock()
	w.log.placements = &w.log.step.Placements
	pf.Status = toStatus(st)
	if res != nil {
		pf.Nominated = map[string]string{}
		for pod, info := range res.NominatingInfos {
			pf.Nominated[pod.String()] = info.NominatedNodeName
		}
	}
	return res, st
}

// groups runs the pending pods of a case through the real queue and the scheduler's own ScheduleOne, groups and single
// pods alike, each once, and those that preempted again once their victims are gone.
func groups(ctx context.Context, c *Case, a *Answer) error {
	var standing, arriving []runtime.Object
	objs, err := decode(c.Objects)
	if err != nil {
		return err
	}
	admitGroups(objs)
	var waiting []*v1.Pod
	for _, o := range objs {
		pod, isPod := o.(*v1.Pod)
		_, isGroup := o.(*schedulingv1beta1.PodGroup)
		switch {
		case isGroup || isPod && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil:
			arriving = append(arriving, o)
			if isPod {
				waiting = append(waiting, pod)
			}
		default:
			standing = append(standing, o)
		}
	}
	w, err := newWorld(ctx, c, standing)
	if err != nil {
		return err
	}
	log := &stepLog{}
	w.watch(log)
	// One after the other, so that the order of the queue is that of the case.
	for _, o := range arriving {
		if err := w.arrive(o); err != nil {
			return err
		}
	}
	for round := 0; round < mostRounds; round++ {
		preempted := map[string]*v1.Pod{}
		for w.active() > 0 {
			if len(a.Steps) == mostSteps {
				return errors.New("the queue does not come to rest")
			}
			a.Steps = append(a.Steps, w.one(log, waiting, preempted))
		}
		if len(preempted) == 0 {
			break
		}
		w.sched.SchedulingQueue.Activate(klog.FromContext(ctx), preempted)
	}
	a.Gated = w.gated(waiting, a.Steps)
	return nil
}

// admitGroups does to pod groups what an API server would have done.
func admitGroups(objs []runtime.Object) {
	classes := map[string]*schedulingv1.PriorityClass{}
	var usual *schedulingv1.PriorityClass
	for _, o := range objs {
		if pc, ok := o.(*schedulingv1.PriorityClass); ok {
			classes[pc.Name] = pc
			if pc.GlobalDefault {
				usual = pc
			}
		}
	}
	for _, o := range objs {
		group, ok := o.(*schedulingv1beta1.PodGroup)
		if !ok {
			continue
		}
		if group.Namespace == "" {
			group.Namespace = "default"
		}
		group.UID = types.UID("uid-group-" + group.Namespace + "/" + group.Name)
		class := usual
		if group.Spec.PriorityClassName != "" {
			class = classes[group.Spec.PriorityClassName]
		}
		priority := int32(0)
		if class != nil {
			priority = class.Value
			if class.PreemptionPolicy != nil && utilfeature.DefaultFeatureGate.Enabled(features.PodGroupPreemptionPolicy) {
				policy := schedulingv1beta1.PreemptionPolicy(*class.PreemptionPolicy)
				group.Spec.PreemptionPolicy = &policy
			}
		}
		if group.Spec.Priority == nil {
			group.Spec.Priority = &priority
		}
		schedulingdefaults.SetDefaults_PodGroup(group)
	}
}

// watch puts the watcher around each profile, and writes down what the scheduler does.
func (w *world) watch(log *stepLog) {
	for name, f := range w.sched.Profiles {
		w.sched.Profiles[name] = &watcher{Framework: f, log: log}
	}
	schedule := w.sched.SchedulePod
	w.sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		res, err := schedule(ctx, f, state, pod)
		log.Lock()
		defer log.Unlock()
		if log.step.Group != "" {
			tried := Tried{Pod: pod.Pod.Namespace + "/" + pod.Pod.Name, Node: res.SuggestedHost}
			if err != nil {
				tried.Message = err.Error()
			}
			log.placement().Pods = append(log.placement().Pods, tried)
		}
		return res, err
	}
	fail := w.sched.FailureHandler
	w.sched.FailureHandler = func(ctx context.Context, f framework.Framework, pod *framework.QueuedPodInfo, st *fwk.Status, info *fwk.NominatingInfo, start time.Time) {
		tried := Tried{Pod: pod.Pod.Namespace + "/" + pod.Pod.Name, Message: st.Message(), Code: st.Code().String()}
		if info != nil && info.NominatingMode == fwk.ModeOverride {
			tried.Nominated = info.NominatedNodeName
		}
		log.Lock()
		log.step.Results = append(log.step.Results, tried)
		log.Unlock()
		fail(ctx, f, pod, st, info, start)
	}
	next := w.sched.NextEntity
	w.sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		entity, err := next(logger)
		log.Lock()
		defer log.Unlock()
		switch e := entity.(type) {
		case *framework.QueuedPodGroupInfo:
			log.step.Group = e.Namespace + "/" + e.Name
			e.ForEachPodInfo(func(pod *framework.QueuedPodInfo) bool {
				log.step.Members = append(log.step.Members, pod.Pod.Name)
				return true
			})
		case *framework.QueuedPodInfo:
			log.step.Pod = e.Pod.Namespace + "/" + e.Pod.Name
		}
		return entity, err
	}
	// The fake API server leaves resourceVersion alone, and the scheduler takes no notice of a change without one.
	var written atomic.Int64
	version := func() string { return strconv.FormatInt(1000+written.Add(1), 10) }
	tracker := w.client.Tracker()
	pods := v1.SchemeGroupVersion.WithResource("pods")
	w.client.PrependReactor("create", "pods", func(action core.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := action.(core.CreateAction).GetObject().(*v1.Binding)
		o, err := tracker.Get(pods, action.GetNamespace(), binding.Name)
		if err != nil {
			return true, nil, err
		}
		bound := o.(*v1.Pod).DeepCopy()
		bound.Spec.NodeName = binding.Target.Name
		bound.ResourceVersion = version()
		return true, binding, tracker.Update(pods, bound, action.GetNamespace())
	})
	patch := core.ObjectReaction(tracker)
	w.client.PrependReactor("patch", "*", func(action core.Action) (bool, runtime.Object, error) {
		done, o, err := patch(action)
		if err != nil {
			return done, o, err
		}
		m, err := apimeta.Accessor(o)
		if err != nil {
			return done, o, err
		}
		m.SetResourceVersion(version())
		return done, o, tracker.Update(action.GetResource(), o, action.GetNamespace())
	})
}

// arrive creates an object and waits until the queue has it.
func (w *world) arrive(o runtime.Object) error {
	switch t := o.(type) {
	case *schedulingv1beta1.PodGroup:
		groups := w.client.SchedulingV1beta1().PodGroups(t.Namespace)
		if _, err := groups.Create(w.ctx, t, metav1.CreateOptions{}); err != nil {
			return err
		}
		lister := w.inf.Scheduling().V1beta1().PodGroups().Lister()
		return until(func() bool { _, err := lister.PodGroups(t.Namespace).Get(t.Name); return err == nil })
	case *v1.Pod:
		before, _ := w.sched.SchedulingQueue.PendingPods()
		if _, err := w.client.CoreV1().Pods(t.Namespace).Create(w.ctx, t, metav1.CreateOptions{}); err != nil {
			return err
		}
		if w.sched.Profiles[t.Spec.SchedulerName] == nil {
			return nil
		}
		return until(func() bool { now, _ := w.sched.SchedulingQueue.PendingPods(); return len(now) > len(before) })
	}
	return nil
}

// until waits for what informers bring, at most two seconds.
func until(done func() bool) error {
	for range 2000 {
		if done() {
			time.Sleep(2 * time.Millisecond) // handlers of one event run one after the other
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("an event did not arrive")
}

// active is how many pods and groups wait for their turn.
func (w *world) active() (n int) {
	_, summary := w.sched.SchedulingQueue.PendingPods()
	fmt.Sscanf(summary, "activeQ:%d", &n)
	return n
}

// one lets the scheduler take its next pod or group, and waits until everything that follows from it has happened.
func (w *world) one(log *stepLog, waiting []*v1.Pod, preempted map[string]*v1.Pod) Step {
	step := &Step{}
	log.step, log.placements = step, &step.Placements
	w.client.ClearActions()
	w.sched.ScheduleOne(w.ctx)
	asked := []string{step.Pod}
	if step.Group != "" {
		asked = nil
		namespace, _, _ := strings.Cut(step.Group, "/")
		for _, name := range step.Members {
			asked = append(asked, namespace+"/"+name)
		}
	}
	var bound map[string]string
	err := until(func() bool {
		bound = w.bound()
		log.Lock()
		defer log.Unlock()
		return len(bound)+len(step.Results) >= len(asked)
	})
	if err != nil {
		step.Error = err.Error()
	}
	for pod, node := range bound {
		step.Results = append(step.Results, Tried{Pod: pod, Node: node, Code: fwk.Success.String()})
	}
	order := func(r Tried) int { return slices.Index(asked, r.Pod) }
	sort.SliceStable(step.Results, func(i, j int) bool { return order(step.Results[i]) < order(step.Results[j]) })
	for _, action := range w.client.Actions() {
		if d, ok := action.(core.DeleteAction); ok && action.GetResource().Resource == "pods" {
			step.Victims = append(step.Victims, d.GetNamespace()+"/"+d.GetName())
		}
	}
	sort.Strings(step.Victims)
	w.waitEvicted(step.Victims)
	w.waitBound(bound)
	if len(step.Victims) > 0 {
		for _, pod := range waiting {
			if slices.Contains(asked, pod.Namespace+"/"+pod.Name) {
				preempted[pod.Namespace+"/"+pod.Name] = pod
			}
		}
	}
	step.Condition = w.condition(step.Group)
	return *step
}

// bound are the pods that were bound in this step, and to which nodes.
func (w *world) bound() map[string]string {
	out := map[string]string{}
	for _, action := range w.client.Actions() {
		if action.GetSubresource() == "binding" {
			binding := action.(core.CreateAction).GetObject().(*v1.Binding)
			out[action.GetNamespace()+"/"+binding.Name] = binding.Target.Name
		}
	}
	return out
}

// waitEvicted waits until the scheduler's cache is without the victims.
func (w *world) waitEvicted(victims []string) {
	for _, key := range victims {
		namespace, name, _ := strings.Cut(key, "/")
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + key)}}
		until(func() bool { _, err := w.sched.Cache.GetPod(pod); return err != nil })
	}
}

// waitBound waits until the scheduler's informers have seen the pods on their nodes.
func (w *world) waitBound(bound map[string]string) {
	lister := w.inf.Core().V1().Pods().Lister()
	for key := range bound {
		namespace, name, _ := strings.Cut(key, "/")
		until(func() bool {
			pod, err := lister.Pods(namespace).Get(name)
			return err == nil && pod.Spec.NodeName != ""
		})
	}
}

// condition is what the group's status says afterwards; the scheduler's informers have seen it too.
func (w *world) condition(key string) *Condition {
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		return nil
	}
	group, err := w.client.SchedulingV1beta1().PodGroups(namespace).Get(w.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	find := func(group *schedulingv1beta1.PodGroup) *metav1.Condition {
		return apimeta.FindStatusCondition(group.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
	}
	found := find(group)
	if found == nil {
		return nil
	}
	lister := w.inf.Scheduling().V1beta1().PodGroups().Lister()
	until(func() bool {
		seen, err := lister.PodGroups(namespace).Get(name)
		return err == nil && find(seen) != nil && *find(seen) == *found
	})
	return &Condition{Status: string(found.Status), Reason: found.Reason, Message: found.Message}
}

// gated says of each pod that never had a turn what keeps it out of the queue.
func (w *world) gated(waiting []*v1.Pod, steps []Step) map[string]Status {
	tried := map[string]bool{}
	for _, step := range steps {
		for _, r := range step.Results {
			tried[r.Pod] = true
		}
	}
	out := map[string]Status{}
	for _, pod := range waiting {
		key := pod.Namespace + "/" + pod.Name
		f, ok := w.sched.Profiles[pod.Spec.SchedulerName]
		if tried[key] || !ok {
			continue
		}
		out[key] = toStatus(nil)
		for _, pl := range f.PreEnqueuePlugins() {
			if st := pl.PreEnqueue(w.ctx, pod); !st.IsSuccess() {
				o := toStatus(st)
				o.Plugin = pl.Name()
				out[key] = o
				break
			}
		}
	}
	return out
}
