// kube-scheduler with two plugins, One and Two, that write down every call of a binding cycle and do what a pod's
// annotations say: "calls.schedctl.dev/PreBind-Two: fail". tests/live has the same plugins in Python.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/cli"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

type recorder struct {
	name   string
	handle fwk.Handle
}

func (r *recorder) Name() string { return r.name }

// call writes a line to $CALLS and returns the answer that the pod asks for.
func (r *recorder) call(point string, pod *v1.Pod) string {
	log, err := os.OpenFile(os.Getenv("CALLS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer log.Close()
	fmt.Fprintf(log, "%s %s %s/%s\n", point, r.name, pod.Namespace, pod.Name)
	return pod.Annotations["calls.schedctl.dev/"+point+"-"+r.name]
}

func status(answer string) *fwk.Status {
	switch answer {
	case "fail":
		return fwk.NewStatus(fwk.Error, "broken")
	case "refuse":
		return fwk.NewStatus(fwk.Unschedulable, "no")
	}
	return nil
}

func (r *recorder) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return status(r.call("Reserve", pod))
}

func (r *recorder) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	r.call("Unreserve", pod)
}

func (r *recorder) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	how, timeout, waits := strings.Cut(r.call("Permit", pod), " ")
	if !waits {
		return status(how), 0
	}
	seconds, err := time.ParseDuration(timeout)
	if err != nil {
		panic(err)
	}
	time.AfterFunc(200*time.Millisecond, func() {
		waiting := r.handle.GetWaitingPod(pod.UID)
		if waiting == nil {
			return
		}
		switch how {
		case "allow":
			waiting.Allow(r.name)
		case "reject":
			waiting.Reject(r.name, "thought better of it")
		}
	})
	return fwk.NewStatus(fwk.Wait), seconds
}

func (r *recorder) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}

func (r *recorder) PreBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	return status(r.call("PreBind", pod))
}

func (r *recorder) Bind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	if answer := status(r.call("Bind", pod)); answer != nil {
		return answer
	}
	return fwk.NewStatus(fwk.Skip)
}

func (r *recorder) PostBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	r.call("PostBind", pod)
}

func with(name string) app.Option {
	return app.WithPlugin(name, func(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		return &recorder{name, handle}, nil
	})
}

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(with("One"), with("Two"))))
}
