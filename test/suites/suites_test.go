package suites

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

var (
	brokerFlag = flag.String("broker", failsOnFiveways, "fiveways, rabbitmq, redis or postgres; all but the first run their own suites only")
	suitesFlag = flag.String("suites", "quick", "quick, all, or names with commas between them")
)

const (
	fetchPatience = 15 * time.Minute // compilers are slow
	runPatience   = 30 * time.Minute
)

// suite is the tests of one client. Its folder has its name.
type suite struct {
	name    string
	version string
	quick   bool
	ownPort bool      // has the default port of its protocol in its sources
	manages bool      // uses the management API on its default port
	ctl     bool      // calls rabbitmqctl
	asks    []request // to the management API, before the suite runs
	tools   []string
	users   []account
	speaks  string // whose protocol it speaks, if not RabbitMQ's: failsOnRedis or failsOnPostgres
	least   int    // minimum number of cases that pass: fewer means that it did not run
}

var suites = []suite{
	{name: "amqp091-go", version: "1.16.0", quick: true, tools: []string{"go"}, least: 220},
	{name: "pika", version: "1.3.2", quick: true, ownPort: true, tools: []string{"python3", "apt-get"}, least: 1050},
	{name: "amqplib", version: "2.1.0", quick: true, ownPort: true, tools: []string{"node", "npm"}, least: 250},
	{name: "py-amqp", version: "5.4.2", quick: true, tools: []string{"python3"}, least: 40},
	{name: "kombu", version: "5.7.0", tools: []string{"python3"}, least: 50},
	{name: "rabbit-hole", version: "3.2.0", quick: true, manages: true, asks: rabbitHoleRequests, tools: []string{"go"}, least: 135},
	{name: "bunny", version: "2.23.0", ownPort: true, tools: []string{"apt-get"}, users: bunnyAccounts, least: 8000},
	{name: "go-rabbitmq", version: "0.15.0", quick: true, ownPort: true, tools: []string{"go"}, least: 4},
	{name: "watermill-amqp", version: "3.0.2", tools: []string{"go"}, least: 12},
	{name: "aio-pika", version: "10.2.1", tools: []string{"python3"}, least: 900},
	{name: "dramatiq", version: "2.2.1", ownPort: true, tools: []string{"python3"}, least: 25},
	{name: "redis", version: "7.0.15", speaks: failsOnRedis, tools: []string{"apt-get"}, least: 290},
	{name: "watermill-redisstream", version: "1.4.5", speaks: failsOnRedis, ownPort: true, tools: []string{"go"}, least: 8},
	{name: "rascal", version: "12.0.1", manages: true, tools: []string{"node", "npm"}, least: 330},
	{name: "lapin", version: "4.12.3", tools: []string{"cargo"}, least: 35},
	{name: "amqprs", version: "2.1.5", ownPort: true, tools: []string{"cargo"}, users: amqprsAccounts, least: 49},
	{name: "amqp-client", version: "5.0.0", ctl: true, tools: []string{"java", "mvn", "apt-get", "make"}, least: 350},
	{name: "pgconn", version: "5.13.0", speaks: failsOnPostgres, tools: []string{"go"}, least: 180},
	{name: "pgjdbc", version: "42.7.8", speaks: failsOnPostgres, tools: []string{"java", "mvn"}, least: 160},
	{name: "php-amqplib", version: "3.7.3", ownPort: true, tools: []string{"apt-get"}, least: 800},
}

// bunnyAccounts are the accounts in Bunny's bin/ci/before_build.sh.
var bunnyAccounts = []account{
	{user: "bunny_gem", password: "bunny_password", vhost: "bunny_testbed", permissions: everything},
	{user: "guest", vhost: "bunny_testbed", permissions: everything},
	{user: "bunny_reader", password: "reader_password", vhost: "bunny_testbed", permissions: [3]string{"^---$", "^---$", ".*"}},
	{user: "bunny_gem", vhost: "bunny_dqt_classic", permissions: everything, queueType: "classic"},
	{user: "bunny_gem", vhost: "bunny_dqt_quorum", permissions: everything, queueType: "quorum"},
	{user: "bunny_gem", vhost: "bunny_dqt_stream", permissions: everything, queueType: "stream"},
}

// amqprsAccounts is the user of the container that amqprs starts in its CI.
var amqprsAccounts = []account{{user: "user", password: "bitnami", vhost: "/", permissions: everything}}

func TestMain(m *testing.M) {
	if socket := os.Getenv(ctlSocket); socket != "" {
		os.Exit(callCtl(socket, os.Args[1:]))
	}
	brokertest.Main(m)
}

func TestSuites(t *testing.T) {
	chosen := strings.Split(*suitesFlag, ",")
	var queued []suite // they need a port or a command for themselves, and run one at a time
	for _, s := range suites {
		if *brokerFlag != failsOnFiveways && *brokerFlag != cmp.Or(s.speaks, failsOnRabbitMQ) {
			continue
		}
		switch {
		case *suitesFlag != "all" && (*suitesFlag != "quick" || !s.quick) && !slices.Contains(chosen, s.name):
		case s.ownPort || s.manages || s.ctl:
			queued = append(queued, s)
		default:
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				s.test(t)
			})
		}
	}
	t.Run("queued", func(t *testing.T) {
		t.Parallel()
		for _, s := range queued {
			t.Run(s.name, s.test)
		}
	})
}

func (s suite) test(t *testing.T) {
	exceptions, err := readExceptions(filepath.Join(s.name, "exceptions.txt"))
	must(t, err)
	dir, err := s.fetch(t.Context())
	if err != nil {
		giveUp(t, err)
	}
	broker := s.start(t)
	addr := broker.addr
	if s.ownPort {
		port := ownPort
		if s.speaks == failsOnRedis {
			port = ownRedisPort
		}
		if err := forwardPort(t, port, broker.addr); err != nil {
			giveUp(t, err)
		}
		addr = "127.0.0.1:" + port
	}
	host, port, _ := strings.Cut(addr, ":")
	report := filepath.Join(t.TempDir(), "report")
	skip := broker.without
	for _, e := range exceptions {
		if e.kind == notRun {
			skip = append(skip, e.name)
		}
	}
	var env []string
	if s.ctl {
		if env, err = serveCtl(t, broker.ctl); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.script(t.Context(), runPatience, []string{"run", dir, report}, append(env,
		"DATABASE_URL="+broker.database, "REDIS_HOST="+host, "REDIS_PORT="+port, "AMQP_URL=amqp://guest:guest@"+addr+"/", "AMQP_HOST="+host, "AMQP_PORT="+port, "SKIP="+strings.Join(skip, "\n"))...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results, err := readReport(report)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.judge(t, results, exceptions)
}

// start starts the broker under test, and creates what the suite expects in it.
func (s suite) start(t *testing.T) server {
	t.Helper()
	if s.manages {
		broker, err := startManaged(t, *brokerFlag)
		if err != nil {
			giveUp(t, err)
		}
		must(t, broker.prepare(s.asks))
		return broker
	}
	if s.ctl {
		broker, err := startControlled(t, *brokerFlag)
		if err != nil {
			giveUp(t, err)
		}
		return broker
	}
	switch s.speaks {
	case failsOnRedis:
		return startRedis(t, *brokerFlag)
	case failsOnPostgres:
		return startPostgres(t, *brokerFlag)
	}
	broker := startBroker(t, *brokerFlag)
	must(t, broker.open(s.users))
	return broker
}

// judge reports unexpected results, and counts the cases.
func (s suite) judge(t *testing.T, results map[string]result, exceptions []exception) {
	for _, wrong := range verdict(results, exceptions, *brokerFlag) {
		t.Error(wrong)
	}
	counts := map[outcome]int{}
	for _, r := range results {
		counts[r.outcome]++
	}
	t.Logf("%s %s on %s: %d cases passed, %d failed, %d left out by the suite", s.name, s.version, *brokerFlag, counts[passed], counts[failed], counts[skipped])
	if counts[passed] < s.least {
		t.Errorf("only %d cases passed, want %d at least", counts[passed], s.least)
	}
}

// giveUp skips the test, or fails it in CI.
func giveUp(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("suite not run: %v", err)
	}
	t.Skipf("suite not run: %v", err)
}

// fetch returns the folder that the suite was fetched into. It is reused by later runs as long as
// the suite's scripts are the same.
func (s suite) fetch(ctx context.Context) (dir string, err error) {
	for _, tool := range s.tools {
		if _, err := exec.LookPath(tool); err != nil {
			return "", err
		}
	}
	if dir, err = filepath.Abs(filepath.Join(".cache", s.name)); err != nil {
		return "", err
	}
	scripts := sha256.New()
	for _, file := range []string{"lib.sh", s.name + "/run.sh", s.name + "/requirements.txt", s.name + "/units.tcl", s.name + "/report.js", s.name + "/random.js", s.name + "/pom.xml", s.name + "/Report.java"} {
		b, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		scripts.Write(b) //nolint:errcheck // a hash never fails
	}
	stamp, want := filepath.Join(dir, ".fetched"), fmt.Sprintf("%x", scripts.Sum(nil))
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return dir, nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	if out, err := s.script(ctx, fetchPatience, []string{"fetch", dir}); err != nil {
		return "", fmt.Errorf("fetch: %w\n%s", err, out)
	}
	return dir, os.WriteFile(stamp, []byte(want), 0o644)
}

// script runs the suite's run.sh in its folder.
func (s suite) script(ctx context.Context, patience time.Duration, args []string, env ...string) (out []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./run.sh", args...)
	cmd.Dir = s.name
	cmd.Env = append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1", "GOFLAGS=-mod=mod")...)
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
