package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// answer asks about every pod of a case, in order.
func answer(c *Case) (a Answer) {
	a.ID = c.ID
	defer func() {
		if r := recover(); r != nil {
			a.Error = fmt.Sprintf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if c.Groups {
		if err := groups(ctx, c, &a); err != nil {
			a.Error = err.Error()
		}
		return
	}
	w, pods, err := build(ctx, c)
	if err != nil {
		a.Error = err.Error()
		return
	}
	start := time.Now()
	if c.Bench {
		if err := w.bench(&a, len(pods)); err != nil {
			a.Error = err.Error()
		}
		return
	}
	for _, p := range pods {
		cy, state := w.cycle(p, c.Lean)
		a.Cycles = append(a.Cycles, cy)
		if !c.Simulate {
			if cy.PostFilter != nil {
				// Preemption deletes its victims; the next pod is asked about the cluster as given.
				if w, _, err = build(ctx, c); err != nil {
					a.Error = err.Error()
					return
				}
			}
			continue
		}
		if cy.PostFilter != nil && cy.PostFilter.NominatedNode != "" {
			w.waitGone(cy.PostFilter.Victims)
			cy, state = w.cycle(p, c.Lean)
			a.Cycles = append(a.Cycles, cy)
		}
		if cy.Chosen != "" {
			assumed := p.DeepCopy()
			assumed.Spec.NodeName = cy.Chosen
			noteClaims(ctx, assumed, state)
			if err := w.sched.Cache.AssumePod(klog.FromContext(ctx), assumed); err != nil {
				a.Error = err.Error()
				return
			}
			f := w.sched.Profiles[p.Spec.SchedulerName]
			if st := f.RunReservePluginsReserve(ctx, state, assumed, cy.Chosen); !st.IsSuccess() {
				a.Error = "reserve: " + st.Message()
				return
			}
		}
	}
	a.Seconds = time.Since(start).Seconds()
	return
}

// bench schedules every pending pod through the real queue and takes the time.
func (w *world) bench(a *Answer, pending int) error {
	// Every pending pod reaches the real queue through the informers first.
	ctx := w.ctx
	logger := klog.FromContext(ctx)
	for {
		if waiting, _ := w.sched.SchedulingQueue.PendingPods(); len(waiting) >= pending {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ok := 0
	start := time.Now()
	for range pending {
		queued, err := next(w.sched, logger)
		if err != nil {
			return err
		}
		f := w.sched.Profiles[queued.Pod.Spec.SchedulerName]
		snap := f.SnapshotSharedLister().(*internalcache.Snapshot)
		if err := w.sched.Cache.UpdateSnapshot(logger, snap); err != nil {
			return err
		}
		state := framework.NewCycleState()
		res, err := schedule(ctx, w.sched, f, state, queued)
		w.sched.SchedulingQueue.Done(queued.Pod.UID)
		a.Placements = append(a.Placements, [2]string{queued.Pod.Namespace + "/" + queued.Pod.Name, res.SuggestedHost})
		if err != nil {
			continue
		}
		ok++
		assumed := queued.Pod.DeepCopy()
		assumed.Spec.NodeName = res.SuggestedHost
		noteClaims(ctx, assumed, state)
		if err := w.sched.Cache.AssumePod(logger, assumed); err != nil {
			return err
		}
		if s := f.RunReservePluginsReserve(ctx, state, assumed, res.SuggestedHost); !s.IsSuccess() {
			return s.AsError()
		}
	}
	a.Seconds = time.Since(start).Seconds()
	a.Cycles = []Cycle{{Message: fmt.Sprintf("scheduled %d of %d", ok, pending)}}
	return nil
}
