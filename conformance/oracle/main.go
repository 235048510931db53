// Command oracle answers scheduling questions with the plugins of the real kube-scheduler. It reads one JSON case a line
// on standard input and writes one JSON answer a line, in the same order, on standard output. See the README for both.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

func main() {
	gates := flag.String("feature-gates", "SchedulerAsyncPreemption=false,SchedulerAsyncAPICalls=false", "feature gates")
	parallel := flag.Int("parallel", 8, "cases in the works at once")
	list := flag.Bool("list-gates", false, "write the feature gates of this version as JSON, and nothing else")
	flag.Parse()
	if *list {
		if err := listGates(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	klog.SetLogger(logr.Discard())
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	dec := json.NewDecoder(in)
	// Most of a case's time is waiting for informers: several run at once, answers keep their order.
	var alone sync.RWMutex
	pending := make(chan chan Answer, *parallel)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for p := range pending {
			b, _ := json.Marshal(<-p)
			out.Write(b)
			out.WriteByte('\n')
			out.Flush()
		}
	}()
	for dec.More() {
		var c Case
		if err := dec.Decode(&c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		p := make(chan Answer, 1)
		pending <- p
		if c.Bench {
			alone.Lock()
			p <- answer(&c)
			alone.Unlock()
			continue
		}
		alone.RLock()
		go func() {
			defer alone.RUnlock()
			p <- answer(&c)
		}()
	}
	close(pending)
	<-written
}
