package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// pageIntro and pageNotes frame the table in docs/benchmarks.md.
const (
	pageIntro = `# Benchmarks

Written by ` + "`make bench`" + `; do not edit. Each number is the median of the repetitions. Brokers take turns, each started anew on
loopback and on an empty data folder for every case and repetition. "Fiveways is better by" compares with RabbitMQ: 8 × means eight times the
rate, or an eighth of the time, CPU or memory.

`
	pageNotes = `
## What is measured

- **delivered**: messages per second at the consumers after a warm-up. **cpu**: CPU time of the broker's process in the same interval, over the larger of
  sent (confirmed, where there are confirms) and delivered. **rss**: resident memory at the end of the case, 1 MB = 10^6 bytes.
- **confirm**, **deliver**: time from the write of a publish to its confirm and to its delivery, at an even pace that no answer slows down.
  RabbitMQ 3.10 confirms a persistent message in a classic queue without an fsync, often because it was already acknowledged; Fiveways
  confirms after fdatasync unless sync = os.
- **fill**, **drain**: messages per second up to the last confirm, and up to the last delivery with acks. **restart**: from exec to the end of an AMQP
  handshake after a polite stop. The queue must then hold every confirmed message or the case fails.
- **declares**, **binds**: 4 connections, each sending 64 requests before it reads the answers. Memory of idle connections and empty queues is read 3 s after the last.
- **routing**: extra CPU per message of a publish through the topic exchange, with 9,973 different keys that each match one binding, over one through the default exchange to the same 100 queues.
- **kept**: speed of an undisturbed load (100 B transient, acks) next to the nuisance, in percent of its speed alone (**alone**).
- **PerfTest**: RabbitMQ's own load generator (com.rabbitmq:perf-test), unmodified, on the same cores. **sent**, **received** and **latency p50** are what it
  reports for the whole run, its start included; **cpu** is the broker's, **cpu of PerfTest** its own, each over the messages received. The first two cases
  use queues that it lets the broker name, exclusive and not durable, one for each consumer, all bound alike.

The load generator runs on the same machine and takes its share of the cores from every broker alike.
`
)

// savePage writes docs/benchmarks.md.
func (r *report) savePage(file string, now time.Time) error {
	var b strings.Builder
	b.WriteString(pageIntro)
	fmt.Fprintf(&b, "- date: %s\n- machine: %s\n- brokers:", now.UTC().Format(time.DateOnly), r.Machine)
	separator := " "
	for _, name := range r.brokers {
		fmt.Fprintf(&b, "%s%s %s", separator, name, r.Versions[name])
		separator = ", "
	}
	fmt.Fprintf(&b, "\n- command: `%s` (%s)\n\n", r.Command, r.Settings)
	r.writeTable(&b)
	b.WriteString(pageNotes)
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
