package monitor

import (
	"os"
	"runtime"
	"runtime/metrics"

	"github.com/prometheus/procfs"
)

// Process is the state of this process, as seen by the operating system and the runtime.
type Process struct {
	Memory      int64 // resident bytes; where the system does not report them, bytes obtained by the runtime
	Files       int64 // open files, sockets included
	MostFiles   int64 // limit of open files, 0: unknown
	Goroutines  int64
	Collections int64 // completed garbage collections
	Reclaimed   int64 // bytes freed by garbage collections
	Heap        int64 // bytes of live and dead objects
}

// runtimeMetrics are the metrics read from the runtime, in the order of Process' fields.
var runtimeMetrics = []string{
	"/memory/classes/total:bytes", "/sched/goroutines:goroutines", "/gc/cycles/total:gc-cycles", "/gc/heap/frees:bytes", "/memory/classes/heap/objects:bytes",
}

// ReadProcess reads the state of this process.
func ReadProcess() Process {
	samples := make([]metrics.Sample, len(runtimeMetrics))
	for i, name := range runtimeMetrics {
		samples[i].Name = name
	}
	metrics.Read(samples)
	value := func(i int) int64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(samples[i].Value.Uint64())
	}
	p := Process{Memory: value(0), Goroutines: value(1), Collections: value(2), Reclaimed: value(3), Heap: value(4)}
	if p.Goroutines == 0 {
		p.Goroutines = int64(runtime.NumGoroutine())
	}
	p.readSystem()
	return p
}

// readSystem reads /proc. Where there is none, the fields keep their values.
func (p *Process) readSystem() {
	self, err := procfs.NewProc(os.Getpid())
	if err != nil {
		return
	}
	if st, err := self.Stat(); err == nil {
		p.Memory = int64(st.ResidentMemory())
	}
	if n, err := self.FileDescriptorsLen(); err == nil {
		p.Files = int64(n)
	}
	if l, err := self.Limits(); err == nil {
		p.MostFiles = int64(l.OpenFiles)
	}
}
