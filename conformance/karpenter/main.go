// Command karpenter answers with the scheduler of the real Karpenter which nodes it would launch. It reads one JSON case a
// line on standard input and writes one JSON answer a line, in the same order, on standard output. See the README for both.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	log.SetLogger(logr.Discard())
	registerLabels()
	in := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	out := bufio.NewWriter(os.Stdout)
	for {
		var c Case
		if err := in.Decode(&c); err != nil {
			if errors.Is(err, io.EOF) {
				return
			}
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		b, err := json.Marshal(answer(&c))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		out.Write(append(b, '\n'))
		out.Flush()
	}
}
