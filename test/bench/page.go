package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const pageIntro = `# Benchmarks

Written by ` + "`make bench`" + `, or a part of it by ` + "`go run ./test/bench --only sql --doc docs/benchmarks.md`" + `; do not edit. Each number is the median of
the repetitions. Servers take turns, each started anew on loopback and on an empty data folder for every case and repetition. "Fiveways is better by"
compares with the rival named in the heading: 8 × means eight times the rate, or an eighth of the time, CPU or memory. The load generator runs on the same machine
and takes its share of the cores from every server alike.

**floor** is a null server of the protocol (test/bench/floor): it reads and answers the same requests with the codecs and connections of Fiveways, has no queue, and
before it answers writes what a request brought over zeros, with one fdatasync for all that wait at that time where Fiveways syncs. **of the floor** is how near
Fiveways comes to it: 80 % is four fifths of its rate, or a cost of which it has four fifths; more than 100 % is the chance of short runs.

Rows that a run did not measure stay as they were; each section begins with its runs and the cases that each of them measured.
`

// section is a part of the page. A section that was not measured stays as it was.
type section struct {
	part           part
	heading, notes string
}

var sections = []section{
	{partAMQP, "AMQP 0-9-1 beside RabbitMQ", amqpNotes},
	{partSQL, "SQL beside PostgreSQL with the native schema", sqlNotes},
	{partJobs, "Jobs and lists beside Redis", jobsNotes},
	{partEtcd, "Queues and keys beside etcd", etcdNotes},
	{partSemaphore, "Task semaphores beside a sweep over tables in PostgreSQL", semaphoreNotes},
	{partManagement, "The management API beside RabbitMQ's", managementNotes},
	{partDisk, "The disk", diskNotes},
}

const (
	amqpNotes = `
### What is measured

- **delivered**: messages per second at the consumers after a warm-up. **cpu**: CPU time of the broker's process in the same interval, over the larger of
  sent (confirmed, where there are confirms) and delivered. **rss**: resident memory at the end of the case, 1 MB = 10^6 bytes.
- **confirm**, **deliver**: time from the write of a publish to its confirm and to its delivery, at a fixed rate that no answer slows down (an open loop).
  RabbitMQ 3.10 confirms a persistent message in a classic queue without an fsync, often because it was already acknowledged; Fiveways
  confirms after fdatasync unless sync = os.
- **fill**, **drain**: messages per second up to the last confirm, and up to the last delivery with acks. **restart**: from exec to the end of an AMQP
  handshake after a clean stop. The queue must then hold every confirmed message or the case fails.
- **declares**, **binds**: 4 connections, each sending 64 requests before it reads the answers. Memory of idle connections and empty queues is read 3 s after the last.
- **disk**: the files of the data folder before the restart. **early**, **first**, **last**: how many of the delayed messages came before their time, and how
  late the first and the last came.
- **routing**: extra CPU per message of a publish through the topic exchange, with 9,973 different keys that each match one binding, over one through the default exchange to the same 100 queues. The keys are more than the session's cache holds, so every message walks the
  100,000 bindings. Routing alone takes 1.6 µs (` + "`go test -run xxx -bench TopicRoute ./internal/broker`" + `);
  where the rest of the 3.5 µs goes was not broken down. With 997 keys, which the cache holds, the extra cost was 0.02 µs.
- **kept**: speed of an undisturbed load (100 B transient, acks) beside the misbehaving client, in percent of its speed alone (**alone**).
- **PerfTest**: RabbitMQ's own load generator (com.rabbitmq:perf-test), unmodified, on the same cores. **sent**, **received** and **latency p50** are what it
  reports for the whole run, its start included; **cpu** is the broker's, **cpu of PerfTest** its own, each over the messages received. The first two cases
  use queues that it lets the broker name, exclusive and not durable, one for each consumer, all bound alike.
`
	sqlNotes = `
### What is measured

The same functions of mbus4 called by PostgreSQL's own pgbench (` + "`-M prepared`" + `, on as many threads as there are cores): once served by Fiveways, once by a
PostgreSQL with its default settings and the schema of ` + "`fiveways sql install`" + `. Both keep their data on the same disk and answer a statement after its
transaction is on it (fsync).

- **rate**: messages per second, without the time to connect. **cpu**: CPU time of the server, all its processes, over the messages.
- **post**: one message in each transaction. Afterwards the queue must hold exactly what pgbench counted, or the case fails.
- **consume**, **consumen**: one statement in each transaction, until the backlog or the time is used up. What was not taken must still be there.
- **before**, **after**: one post and one consume, each a transaction of its own, counted as one; **passing**: messages that were posted and taken by the
  thousand in between. PostgreSQL would take most of an hour for ten million, so fewer pass through it.
- **memory** is what is resident; memory that PostgreSQL's processes share is counted in parts. Latency of another client is of a transaction that takes a
  message and posts another, five round trips.
`
	jobsNotes = `
### What is measured

` + "`fiveways bench jobs`" + ` (internal/bench/jobs): each connection writes commands and waits for the answers; the load generator does as little as it can.
Both sides are equally durable: in the cases of jobs Redis keeps an append-only file that it syncs every second, and Fiveways has sync = os, which does
the same; in those of lists both sync before each answer (appendfsync always, sync = always), and so does Fiveways where its default sync is named.
Nothing else differs from the default settings. Redis has no queue of jobs: its side is Lua scripts that do the same
(internal/bench/jobs/lua), called by EVALSHA with as many arguments.

- **rate**: jobs per second, from the enqueue to the report; of lists elements per second, from LPUSH to BRPOP. **p50**, **p99**: of one step of a connection,
  which is as many jobs as it has in flight: all of them enqueued in one write, taken by one command, and reported done in one write.
- **cpu**: CPU time of the server over the jobs.
- **work**: jobs of a backlog of 20,000 that are taken and reported done.
`
	etcdNotes = `
### What is measured

` + "`fiveways bench etcd`" + ` (internal/bench/etcd): etcd's own Go client, the same program for both; both keep what was put on disk before they answer. The
client runs on the same cores and costs as much as a server does, which limits what can be measured: its share is reported.

- **queue**: producers put a message and wait for the answer, consumers watch and delete each, up to 64 deletes at a time (with 1,000 consumers one each):
  enough for the consumer to keep up on both servers; with 16 a backlog grows on both, and p50 is the time in it. In Fiveways it is a queue, ` + "`/q/NAME/p/KEY`" + `; a real etcd has none, so each message is put to a plain key that a consumer watches, each consumer in turn.
  **rate**: messages whose delete was answered. **p50**, **p99**: from before the put to that answer. **fairness**: the consumer with the fewest
  messages to that with the most.
- **watches**: events that all watches together got; **p50** from the put to the event.
- **keys**: **rss** after all were put, 1 MB = 10^6 bytes; then 4 clients read: one key, 100, 10,000 in a range of that size; 100 by limit of all that
  follow a key, which counts the others too; the count of all.
- **cpu**: CPU time of the server over the messages, or events.
`
	managementNotes = `
### What is measured

10,000 durable queues, of which 1,000 are busy, and 1,000 connections, of which 4 publish messages of 100 B to 250 queues each and 4 consume them. All
that the page asks for comes over plain HTTP with a name and a password.

- **overview**, **queues** (the first 100 by name), **queues by rate** (by incoming messages), **connections** (the first 100), **scrape** (/metrics): from the request to the
  last byte of the answer, 20 requests a second of each, beside each other, while 50,000 messages a second flow, or as many as the broker takes. A request that was
  not answered by the end of the case counts with the time it was waited for.
- **publish**: ` + "`POST /api/exchanges/%2F/amq.default/publish`" + ` by clients that each wait for the answer, to a durable queue. **p50**, **p99**: of a request.
- **cpu** of the first case is the broker's, requests and messages together.
- **without**, **with**: messages per second as fast as the broker takes them, on two brokers that take turns: one without API and metrics that samples its counters
  once a minute, and one that samples every 5 s and is asked for the overview, the node and the first page of queues three times in each turn, and
  scraped once; with ` + "`-d 15s`" + ` that is a page that is open and a scrape every 15 s. **cost**: how much less that is, **cpu**: how much more CPU of the broker a
  message takes, medians over the turns; less than 0 is chance.
`
	diskNotes = `
### What is measured

The file of the null servers by itself: each writer has its bytes written over zeros that were laid out before, and waits for fdatasync; those that come meanwhile
share the next write and sync (` + "`floor.Disk`" + `). It is the least that a request takes that is durable when it is answered.
`
	semaphoreNotes = `
### What is measured

` + "`fiveways bench semaphore`" + ` (internal/bench/semaphore). PostgreSQL, with its default settings, has the tables of the original (a semaphore, its tasks, two
indexes), over which a sweep goes once a minute as the original does it: in one transaction it fills the free places with the first that wait, and asks the lowest of the running to
give way. **PostgreSQL with the functions** has what ` + "`fiveways semaphore install`" + ` makes, where the release itself decides. All are on disk before they answer.

- **handover**: one connection releases running tasks at a steady rate, and waits while none runs that it could release (**starved**). **p50**, **p99**: from before
  the release to the event Acquired of the task that takes the place, at a subscriber of ` + "`semaphore.events`" + ` (Redis protocol) or of notifications
  (PostgreSQL). Over the SQL of Fiveways, which has no notifications, it is the time until the client that released has looked and seen the next task run. With a sweep a
  release waits for the next one, half of its interval in the mean: at least two of them are seen.
- **changes**: each connection releases a running task and enqueues another one, and waits for each answer; of the sweep these are statements on tables that decide
  nothing. **p50**, **p99**: of a change.
`
)

// savePage writes docs/benchmarks.md. What this run has not measured stays.
func (r *report) savePage(file string, now time.Time) error {
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	page, err := r.page(string(old), now)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(page), 0o644)
}

// page returns the page old, updated with what this run has measured.
func (r *report) page(old string, now time.Time) (string, error) {
	var b strings.Builder
	b.WriteString(pageIntro)
	for _, s := range sections {
		text := s.in(old)
		if results := r.results(s.part); len(results) > 0 {
			var err error
			if text, err = r.sectionText(s, results, text, now); err != nil {
				return "", err
			}
		}
		if text != "" {
			fmt.Fprintf(&b, "\n%s%s%s\n", s.begin(), text, s.end())
		}
	}
	return b.String(), nil
}

func (s section) begin() string { return "<!-- " + string(s.part) + " -->\n" }
func (s section) end() string   { return "<!-- end of " + string(s.part) + " -->" }

// in returns the section's text in a page, or "" if it has none.
func (s section) in(page string) string {
	_, rest, _ := strings.Cut(page, s.begin())
	text, _, found := strings.Cut(rest, s.end())
	if !found {
		return ""
	}
	return text
}

// sectionText returns the text of a section with the rows of results. old is its text so far.
func (r *report) sectionText(s section, results []*result, old string, now time.Time) (string, error) {
	head := tableHead(results[0].brokers)
	kept, err := rowsIn(old, head)
	if err != nil {
		return "", err
	}
	var b, table strings.Builder
	table.WriteString(head)
	for _, c := range allCases() {
		i := slices.IndexFunc(results, func(res *result) bool { return res.Case == c.name })
		switch {
		case i >= 0:
			table.WriteString(results[i].rows())
			delete(kept, c.title)
		case c.part() == s.part:
			table.WriteString(kept[c.title])
		}
	}
	fmt.Fprintf(&b, "## %s\n\n%s", s.heading, r.run(results, now))
	if len(kept) > 0 {
		b.WriteString(runsBefore(old, results))
	}
	b.WriteString("\n" + table.String())
	writeFailures(&b, results)
	b.WriteString(s.notes)
	return b.String(), nil
}

// run describes which cases this run has measured, and how.
func (r *report) run(results []*result, now time.Time) string {
	var cases, servers []string
	for _, res := range results {
		cases = append(cases, res.Case)
	}
	for _, name := range results[0].brokers {
		servers = append(servers, strings.TrimSpace(name+" "+r.Versions[name]))
	}
	return fmt.Sprintf("- %s: %s, %s; %s; `%s` (%s)\n", strings.Join(cases, ", "), now.UTC().Format(time.DateOnly), r.Machine,
		strings.Join(servers, ", "), r.Command, r.Settings)
}

// runsBefore returns the runs of a section without the cases that are measured again.
func runsBefore(old string, results []*result) string {
	var b strings.Builder
	for line := range strings.Lines(old) {
		names, rest, isRun := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		if strings.HasPrefix(line, "### ") {
			break
		}
		if !isRun || !strings.HasPrefix(line, "- ") {
			continue
		}
		left := slices.DeleteFunc(strings.Split(names, ", "), func(name string) bool {
			return slices.ContainsFunc(results, func(res *result) bool { return res.Case == name })
		})
		if len(left) > 0 {
			fmt.Fprintf(&b, "- %s: %s", strings.Join(left, ", "), rest)
		}
	}
	return b.String()
}

// errColumns is returned for a table that cannot take the rows of a run.
var errColumns = errors.New("bench: the table on the page has other columns: measure all of its cases")

// rowsIn returns the rows of a section's table by the title of their case. It returns errColumns if
// the table does not begin with head.
func rowsIn(section, head string) (map[string]string, error) {
	rows := map[string]string{}
	if section == "" {
		return rows, nil
	}
	_, table, ok := strings.Cut(section, head)
	if !ok {
		return nil, errColumns
	}
	title := ""
	for line := range strings.Lines(table) {
		first, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !isRow || !strings.HasPrefix(line, "| ") {
			break
		}
		if first = strings.TrimSpace(first); first != "" {
			title = first
		}
		rows[title] += line
	}
	return rows, nil
}
