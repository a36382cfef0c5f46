package tutorials

import (
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/etcdd"
	"fiveways.dev/fiveways/test/postgres"
	"fiveways.dev/fiveways/test/rabbitmq"
	"fiveways.dev/fiveways/test/redisd"
)

var rewrite = flag.Bool("rewrite", false, "write what is printed into the pages")

func TestMain(m *testing.M) { brokertest.Main(m) }

// page is a page, with what its programs need and the server that its reader comes from.
type page struct {
	name   string    // path from the module's root
	setUp  [2]string // a folder with a setup.sh, and what it is to install; may be empty
	python string    // the folder below it with the programs of the virtual environment, if any
	tools  []string
	// old starts the other server, and returns its addresses on the page, each followed by the real
	// one.
	old func(t *testing.T) []string
}

// clients has the virtual environments of the clients of AMQP, Redis and etcd.
const clients = "../clients"

var pages = []page{
	{"README.md", [2]string{clients, "python"}, ".venv/bin", []string{"python3", "psql", "redis-cli", "etcdctl"}, nil},
	{"docs/tutorials/from-postgresql.md", [2]string{"../sql/drivers", "python"}, ".venv/bin", []string{"python3", "psql"}, func(t *testing.T) []string {
		return []string{"postgresql://shop@db/shop", postgres.Start(t, postgres.Options{Database: "shop"})}
	}},
	{"docs/tutorials/from-job-queues.md", [2]string{clients, "celery"}, ".venv-celery/bin", []string{"python3", "redis-cli"}, func(t *testing.T) []string {
		return []string{"redis:6379", redisd.Start(t, redisd.Options{})}
	}},
	{"docs/tutorials/from-sidekiq.md", [2]string{}, "", []string{"ruby", "sidekiq", "redis-cli"}, func(t *testing.T) []string {
		return []string{"redis:6379", redisd.Start(t, redisd.Options{})}
	}},
	{"docs/tutorials/from-etcd.md", [2]string{clients, "etcd_python"}, ".venv-etcd/bin", []string{"python3", "etcdctl"}, func(t *testing.T) []string {
		return []string{"etcd:2379", etcdd.Start(t)}
	}},
	{"docs/tutorials/from-rabbitmq.md", [2]string{clients, "python"}, ".venv/bin", []string{"python3", "psql", "redis-cli"}, func(t *testing.T) []string {
		r := daemon.ForTest(t, func() (*rabbitmq.Node, error) { return rabbitmq.Serve(rabbitmq.Options{}) }, rabbitmq.ErrNone)
		return []string{"rabbit:5672", r.AMQPAddr, "rabbit:15672", r.HTTPAddr}
	}},
}

// These pages need only pika and curl.
func init() {
	for _, name := range []string{
		"features/browsing", "features/consume-after", "features/deduplication", "features/delayed-messages", "features/message-groups",
		"features/recent-history", "features/selectors", "management/tls", "protocols/amqp",
	} {
		pages = append(pages, page{"docs/" + name + ".md", [2]string{clients, "python"}, ".venv/bin", []string{"python3", "curl"}, nil})
	}
}

// TestTutorials runs every page. A page whose clients or server are missing is skipped, but fails
// with CI=true.
func TestTutorials(t *testing.T) {
	for _, p := range pages {
		t.Run(filepath.Base(p.name), func(t *testing.T) {
			p.prepare(t)
			data := t.TempDir()
			broker := start(t, data)
			env := []string{"FIVEWAYS_DATA=" + data, "ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=" + broker.EtcdAddr(), "PGCLIENTENCODING=UTF8", "LC_ALL=C.UTF-8"}
			known := addresses(broker)
			if p.old != nil {
				known = append(known, p.old(t)...)
			}
			p.play(t, newPlayer(t, p.path(t), env, known))
		})
	}
}

func start(t *testing.T, data string) *brokertest.Broker {
	t.Helper()
	const free = "127.0.0.1:0"
	b, err := brokertest.Start(t.Context(), data, "--sql", free, "--redis", free, "--etcd", free, "--http", free)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return b
}

// addresses returns the default addresses, each followed by the broker's. A page may have only the
// port, as an option of redis-cli or of a foreign server.
func addresses(b *brokertest.Broker) (all []string) {
	for _, a := range [][2]string{{"5672", b.Addr()}, {"5433", b.SQLAddr()}, {"6380", b.RedisAddr()}, {"2379", b.EtcdAddr()}, {"15672", b.HTTPAddr()}} {
		_, port, _ := net.SplitHostPort(a[1])
		all = append(all, "127.0.0.1:"+a[0], a[1], "-p "+a[0], "-p "+port, "port '"+a[0]+"'", "port '"+port+"'")
	}
	return all
}

// prepare installs what the page's programs need.
func (p *page) prepare(t *testing.T) {
	t.Helper()
	giveUp := t.Skipf
	if os.Getenv("CI") == "true" {
		giveUp = t.Fatalf
	}
	for _, tool := range p.tools {
		if _, err := exec.LookPath(tool); err != nil {
			giveUp("%s not played: %v", p.name, err)
		}
	}
	if p.setUp[0] == "" {
		return
	}
	cmd := exec.Command("./setup.sh", p.setUp[1])
	cmd.Dir = p.setUp[0]
	if out, err := cmd.CombinedOutput(); err != nil {
		giveUp("%s not played: setup.sh: %v\n%s", p.name, err, out)
	}
}

// path returns the folders of this version's fiveways and of the page's python3, if it has one.
func (p *page) path(t *testing.T) []string {
	t.Helper()
	programs := t.TempDir()
	if err := os.Symlink(brokertest.Binary(t), filepath.Join(programs, "fiveways")); err != nil {
		t.Fatal(err)
	}
	if p.python == "" {
		return []string{programs}
	}
	python, err := filepath.Abs(filepath.Join(p.setUp[0], p.python))
	if err != nil {
		t.Fatal(err)
	}
	return []string{programs, python}
}

func (p *page) play(t *testing.T, reader *player) {
	t.Helper()
	file := "../../" + p.name
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := steps(string(text))
	if len(all) == 0 {
		t.Fatal("found no steps")
	}
	changed, end := "", 0 // the corrected page up to end
	for _, s := range all {
		printed := reader.play(t, s)
		if s.file != "" || matches(s.output, printed) {
			continue
		}
		t.Errorf("%sprints\n%s\nand not\n%s", s.command, printed, s.output)
		changed += string(text[end:s.at]) + printed
		end = s.at + len(s.output)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(changed+string(text[end:])), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
