package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"fiveways.dev/fiveways/test/etcdd"
	"fiveways.dev/fiveways/test/postgres"
	"fiveways.dev/fiveways/test/rabbitmq"
	"fiveways.dev/fiveways/test/redisd"
)

// caseLimit is the timeout of one run of one case, including a backlog of millions.
const caseLimit = 15 * time.Minute

func main() {
	run := run
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "serve" {
		run, args = serveFloor, args[1:]
	}
	err := run(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	s, err := parseSettings(args, os.Stderr)
	if err != nil {
		return err
	}
	if s.list {
		for _, c := range allCases() {
			fmt.Printf("%-24s %s\n", c.name, c.title)
		}
		return nil
	}
	cases := chosen(allCases(), s)
	if len(cases) == 0 {
		return fmt.Errorf("%w: no case starts with %q; -list names them", errUsage, s.only)
	}
	// SIGPIPE too: a reader of the output that goes away must not leave brokers behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	r, err := measureAll(ctx, cases, s)
	if err != nil {
		return err
	}
	r.Command = strings.Join(append([]string{"go run ./test/bench"}, args...), " ")
	return publish(r, s)
}

// measureAll runs the cases. When it returns, nothing it started is left.
func measureAll(ctx context.Context, cases []benchCase, s settings) (*report, error) {
	if err := raiseFileLimit(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fiveways-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	peers, err := gather(cases, s, dir)
	defer func() {
		for _, p := range peers {
			if p.close != nil {
				p.close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	r := &report{Machine: thisMachine(), Settings: s.String()}
	for _, c := range cases {
		res := newResult(c)
		res.brokers = columnsOf(c, peers)
		r.Results = append(r.Results, res)
		if err := measureCase(ctx, c, peers, s, res); err != nil {
			return nil, err
		}
	}
	r.Versions = versions(peers)
	return r, nil
}

// chosen returns the cases that were requested. It logs and omits those that cannot run here.
func chosen(all []benchCase, s settings) []benchCase {
	var out []benchCase
	for _, c := range all {
		if !s.asksFor(c.name) || c.big && !s.big {
			continue
		}
		if err := missingTool(c.tools); err != nil {
			fmt.Fprintf(os.Stderr, "%s is left out: %v\n", c.name, err)
			continue
		}
		out = append(out, c)
	}
	return out
}

func missingTool(tools []string) error {
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	return nil
}

// raiseFileLimit lets this process and the brokers it starts hold as many connections as the system
// allows.
func raiseFileLimit() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	l.Cur = l.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l) // set explicitly, children inherit it
}

// gather finds the servers that the cases need, rivals first, in the order of the table. The result
// must be closed even with an error.
func gather(cases []benchCase, s settings, dir string) ([]*peer, error) {
	var peers []*peer
	with := func(parts ...part) bool {
		return !s.oursOnly && slices.ContainsFunc(cases, func(c benchCase) bool { return slices.Contains(parts, c.part) })
	}
	for _, rival := range []struct {
		find  func() (*peer, error)
		parts []part
	}{
		{redisPeer, []part{partJobs}},
		{etcdPeer, []part{partEtcd}},
		{postgresPeer, []part{partSQL}},
		{sweepPeer, []part{partSemaphore}},
		{functionsPeer, []part{partSemaphore}},
		{func() (*peer, error) { return rabbitPeer(s.install) }, []part{partAMQP, partManagement}},
	} {
		if !with(rival.parts...) {
			continue
		}
		switch found, err := rival.find(); {
		case isMissing(err):
			fmt.Fprintln(os.Stderr, err)
		case err != nil:
			return peers, err
		default:
			peers = append(peers, found)
		}
	}
	if lavin := lavinmq(); lavin != nil && with(partAMQP) {
		peers = append(peers, lavin)
	}
	if !slices.ContainsFunc(cases, func(c benchCase) bool { return c.part != partDisk }) {
		return append(peers, diskPeer()), nil // nothing has to be built
	}
	ours, err := fiveways(s.ours, dir)
	if err != nil {
		return peers, err
	}
	null, err := floorPeer()
	if err != nil {
		return peers, err
	}
	return append(peers, ours, null, diskPeer()), nil
}

// isMissing reports whether err says that a rival is not installed.
func isMissing(err error) bool {
	return errors.Is(err, redisd.ErrNone) || errors.Is(err, etcdd.ErrNone) || errors.Is(err, postgres.ErrNone) || errors.Is(err, rabbitmq.ErrNone)
}

// measureCase lets the peers take turns. A peer that fails is left out of the rest of the case.
// Only the end of ctx is an error.
func measureCase(ctx context.Context, c benchCase, peers []*peer, s settings, res *result) error {
	for i := range s.repetitions {
		for _, p := range peers {
			if !p.serves(c) || (c.big || c.oursOnly) && p.name != nameOurs || res.Failed[p.name] != "" || c.once && i > 0 {
				continue
			}
			began := time.Now()
			v, err := measureOnce(ctx, c, p, s)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				res.Failed[p.name] = err.Error()
				fmt.Fprintf(os.Stderr, "%s, %s, run %d: %v\n", c.name, p.name, i+1, err)
				continue
			}
			res.add(p.name, v)
			fmt.Fprintf(os.Stderr, "%s, %s, run %d (%v):", c.name, p.name, i+1, time.Since(began).Round(time.Second))
			for _, m := range c.metrics {
				fmt.Fprintf(os.Stderr, "  %s %s %s", m.name, number(v[m.name]), m.unit)
			}
			fmt.Fprintln(os.Stderr)
		}
	}
	return nil
}

func measureOnce(ctx context.Context, c benchCase, p *peer, s settings) (values, error) {
	switch {
	case c.serve != nil:
		return measureServer(ctx, c, p, s)
	case c.management != nil:
		return measureManagement(ctx, c, p, s)
	case c.disk != nil:
		return p.disk(ctx, c, s)
	}
	var env []string
	if p.name == nameOurs || p.name == nameFloor {
		env = c.oursEnv
	}
	b, err := p.start(ctx, p.command, env)
	if err != nil {
		return nil, err
	}
	defer b.destroy()
	return within(ctx, c, b.kill, func(ctx context.Context) (values, error) { return c.run(ctx, b, s) })
}

// within runs measure, and gives up after caseLimit. Killing the server ends every wait for its
// answers, so the cases need no deadlines of their own.
func within(ctx context.Context, c benchCase, kill func(), measure func(context.Context) (values, error)) (values, error) {
	ctx, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	defer context.AfterFunc(ctx, kill)()
	v, err := measure(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("bench: %s took more than %v: %w", c.name, caseLimit, ctx.Err())
	}
	return v, err
}

func versions(peers []*peer) map[string]string {
	v := map[string]string{}
	for _, p := range peers {
		v[p.name] = p.version
	}
	return v
}

// publish prints the table and writes the requested files.
func publish(r *report, s settings) error {
	fmt.Printf("%s; %s\n\n", r.Machine, r.Settings)
	for _, section := range sections {
		if results := r.results(section.part); len(results) > 0 {
			writeTable(os.Stdout, results)
			fmt.Println()
		}
	}
	if s.json != "" {
		if err := r.saveJSON(s.json); err != nil {
			return err
		}
	}
	if s.doc != "" {
		if err := r.savePage(s.doc, time.Now()); err != nil {
			return err
		}
	}
	if n := r.failures(); n > 0 {
		return fmt.Errorf("bench: %d runs failed", n)
	}
	return nil
}
