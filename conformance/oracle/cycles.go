package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	core "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// instance is the plugin the framework itself runs. It is an unexported field: a
// second instance would have caches of its own and miss what Reserve assumed.
func instance(f framework.Framework, name string) (plugin, error) {
	m := reflect.ValueOf(f).Elem().FieldByName("pluginsMap")
	all := reflect.NewAt(m.Type(), unsafe.Pointer(m.UnsafeAddr())).Elem().Interface().(map[string]plugin)
	if p, ok := all[name]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("no plugin %s", name)
}

// matrix asks every filter plugin about every node, also those an earlier plugin refused.
// It comes last in a cycle: filters leave traces in the state, and PostFilter reads them.
func matrix(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (map[string]map[string]Status, error) {
	out := map[string]map[string]Status{}
	for _, p := range f.ListPlugins().Filter.Enabled {
		if state.GetSkipFilterPlugins().Has(p.Name) {
			continue
		}
		inst, err := instance(f, p.Name)
		if err != nil {
			return nil, err
		}
		for _, ni := range nodes {
			st := inst.(filterPlugin).Filter(ctx, state, pod, ni)
			if st.IsSuccess() {
				continue
			}
			if out[p.Name] == nil {
				out[p.Name] = map[string]Status{}
			}
			o := toStatus(st)
			o.Plugin = ""
			out[p.Name][ni.Node().Name] = o
		}
	}
	return out, nil
}

// cycle runs one scheduling cycle up to, not including, Reserve.
func (w *world) cycle(pod *v1.Pod, lean bool) (cy Cycle, state fwk.CycleState) {
	ctx := w.ctx
	cy = Cycle{Pod: pod.Namespace + "/" + pod.Name, Profile: pod.Spec.SchedulerName}
	f, ok := w.sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		cy.Error = "no profile for scheduler name " + pod.Spec.SchedulerName
		return
	}
	if pod.DeletionTimestamp != nil {
		cy.Message = fmt.Sprintf("skip schedule deleting pod: %v/%v", pod.Namespace, pod.Name)
		return
	}
	for _, pl := range f.PreEnqueuePlugins() {
		if s := pl.PreEnqueue(ctx, pod); !s.IsSuccess() {
			st := toStatus(s)
			st.Plugin = pl.Name()
			cy.PreEnqueue = &st
			return
		}
	}
	snap := f.SnapshotSharedLister().(*internalcache.Snapshot)
	if err := w.sched.Cache.UpdateSnapshot(klog.FromContext(ctx), snap); err != nil {
		cy.Error = err.Error()
		return
	}
	listed, _ := snap.NodeInfos().List()
	if len(listed) == 0 {
		cy.Message = "no nodes available to schedule pods"
		return
	}
	all := slices.SortedFunc(slices.Values(listed), func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	state = framework.NewCycleState()
	diag := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	preRes, s, unsched := f.RunPreFilterPlugins(ctx, state, pod)
	cy.PreFilter = toStatus(s)
	diag.UnschedulablePlugins = unsched
	var nodes, feasible []fwk.NodeInfo
	if !lean {
		defer func() {
			if cy.Error != "" || !s.IsSuccess() {
				return
			}
			var err error
			if cy.Matrix, err = matrix(ctx, f, state, pod, nodes); err != nil {
				cy.Error = err.Error()
			}
		}()
	}
	if !s.IsSuccess() {
		if !s.IsRejected() {
			cy.Error = s.AsError().Error()
			return
		}
		diag.NodeToStatus.SetAbsentNodesStatus(s)
		diag.PreFilterMsg = s.Message()
		diag.AddPluginStatus(s)
	} else {
		nodes = all
		if !preRes.AllNodes() {
			nodes = nil
			cy.PreFilterNodes = sets.List(preRes.NodeNames)
			for _, n := range cy.PreFilterNodes {
				if ni, err := snap.Get(n); err == nil {
					nodes = append(nodes, ni)
				}
			}
			diag.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
				fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(unsched))))
		}
		cy.Nodes = map[string]Status{}
		// A nominated node that still fits is the only node the scheduler looks at.
		if nnn := pod.Status.NominatedNodeName; nnn != "" {
			if ni, err := snap.Get(nnn); err == nil {
				if f.RunFilterPluginsWithNominatedPods(ctx, state, pod, ni).IsSuccess() {
					nodes = []fwk.NodeInfo{ni}
				}
			}
		}
		for _, ni := range nodes {
			st := f.RunFilterPluginsWithNominatedPods(ctx, state, pod, ni)
			if st.Code() == fwk.Error {
				cy.Error = st.AsError().Error()
				return
			}
			cy.Nodes[ni.Node().Name] = toStatus(st)
			if st.IsSuccess() {
				feasible = append(feasible, ni)
			} else {
				diag.NodeToStatus.Set(ni.Node().Name, st)
				diag.AddPluginStatus(st)
			}
		}
	}
	if len(feasible) == 0 {
		cy.UnschedulablePlugins = sets.List(diag.UnschedulablePlugins)
		if f.HasPostFilterPlugins() {
			cy.PostFilter, diag.PostFilterMsg = w.postFilter(f, state, pod, diag)
		}
		cy.Message = (&framework.FitError{Pod: pod, NumAllNodes: len(all), Diagnosis: diag}).Error()
		return
	}
	// A running pod has nothing to choose from, and plugins that skipped its PreFilter have nothing to score it by.
	if triesResize(pod) && len(feasible) == 1 {
		cy.Chosen = feasible[0].Node().Name
		cy.Ties = []string{cy.Chosen}
		return
	}
	if err := w.score(&cy, f, state, pod, feasible, lean); err != nil {
		cy.Error = err.Error()
	}
	return
}

// postFilter runs PostFilter once no node is left, and names the victims it deleted.
func (w *world) postFilter(f framework.Framework, state fwk.CycleState, pod *v1.Pod, diag framework.Diagnosis) (*PostFilter, string) {
	w.client.ClearActions()
	began := time.Now()
	res, st := f.RunPostFilterPlugins(w.ctx, state, pod, diag.NodeToStatus)
	pf := &PostFilter{Status: toStatus(st)}
	if w.timing {
		pf.Seconds = time.Since(began).Seconds()
	}
	if res != nil && res.NominatingInfo != nil {
		pf.NominatedNode = res.NominatingInfo.NominatedNodeName
	}
	for _, a := range w.client.Actions() {
		if d, ok := a.(core.DeleteAction); ok && a.GetResource().Resource == "pods" {
			pf.Victims = append(pf.Victims, d.GetNamespace()+"/"+d.GetName())
		}
	}
	sort.Strings(pf.Victims)
	return pf, st.Message()
}

// score scores the feasible nodes. The totals are the framework's own; raw and normalized scores are asked for once more,
// plugin by plugin.
func (w *world) score(cy *Cycle, f framework.Framework, state fwk.CycleState, pod *v1.Pod, feasible []fwk.NodeInfo, lean bool) error {
	ctx := w.ctx
	sort.Slice(feasible, func(i, j int) bool { return feasible[i].Node().Name < feasible[j].Node().Name })
	if ps := f.RunPreScorePlugins(ctx, state, pod, feasible); !ps.IsSuccess() {
		return ps.AsError()
	}
	totals, ss := f.RunScorePlugins(ctx, state, pod, feasible)
	if !ss.IsSuccess() {
		return ss.AsError()
	}
	cy.Totals = map[string]int64{}
	var best int64 = -1
	for _, t := range totals {
		cy.Totals[t.Name] = t.TotalScore
		if t.TotalScore > best {
			best = t.TotalScore
		}
	}
	for _, t := range totals {
		if t.TotalScore == best {
			cy.Ties = append(cy.Ties, t.Name)
		}
	}
	sort.Strings(cy.Ties)
	cy.Chosen = cy.Ties[0]
	if lean {
		cy.Nodes, cy.Totals = nil, nil
		return nil
	}
	cy.Scores = map[string]map[string]Score{}
	for _, t := range totals {
		cy.Scores[t.Name] = map[string]Score{}
		for _, ps := range t.Scores {
			cy.Scores[t.Name][ps.Name] = Score{Weighted: ps.Score}
		}
	}
	for _, p := range f.ListPlugins().Score.Enabled {
		if state.GetSkipScorePlugins().Has(p.Name) {
			for _, t := range totals {
				delete(cy.Scores[t.Name], p.Name)
			}
			continue
		}
		inst, err := instance(f, p.Name)
		if err != nil {
			return err
		}
		sp := inst.(scorePlugin)
		list := make(nodeScoreList, len(feasible))
		raws := make([]int64, len(feasible))
		for i, ni := range feasible {
			v, st := sp.Score(ctx, state, pod, ni)
			if !st.IsSuccess() {
				return st.AsError()
			}
			raws[i] = v
			list[i] = nodeScore{Name: ni.Node().Name, Score: v}
		}
		if ext := sp.ScoreExtensions(); ext != nil {
			if st := ext.NormalizeScore(ctx, state, pod, list); !st.IsSuccess() {
				return st.AsError()
			}
		}
		for i, ni := range feasible {
			sc := cy.Scores[ni.Node().Name][p.Name]
			sc.Raw, sc.Normalized = raws[i], list[i].Score
			cy.Scores[ni.Node().Name][p.Name] = sc
		}
	}
	return nil
}
