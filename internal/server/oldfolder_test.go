package server

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/test/daemon"
)

var (
	update  = flag.String("update", "", "fill data folders with this binary and add them to testdata/folders")
	rewrite = flag.Bool("rewrite", false, "record what clients see of testdata/folders anew")
)

const oldFolders = "testdata/folders"

// TestOldFolders opens data folders written by other versions, and compares what clients see with
// what they saw when the version that wrote a folder reopened it.
func TestOldFolders(t *testing.T) {
	if *update != "" {
		makeFolders(t, *update)
	}
	packed, err := filepath.Glob(oldFolders + "/*.tar.gz")
	if err != nil || len(packed) == 0 {
		t.Fatalf("%d folders, %v", len(packed), err)
	}
	for _, file := range packed {
		name := strings.TrimSuffix(file, ".tar.gz")
		t.Run(filepath.Base(name), func(t *testing.T) {
			want, err := os.ReadFile(name + ".txt")
			must(t, err)
			dir := t.TempDir()
			unpack(t, file, dir)
			for _, opening := range []string{"first", "second"} { // the second opening reads what the first wrote
				n := oldNode{startFaulty(t, dir)}
				got := n.dump()
				drainPolicyNode(t, n.s)
				if *rewrite {
					n.check(os.WriteFile(name+".txt", []byte(got), 0o644))
					break
				}
				compareLines(t, opening, got, string(want))
			}
		})
	}
}

// compareLines reports the lines that differ.
func compareLines(t *testing.T, opening, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s opening, line %d:\n%.600s\nwant\n%.600s", opening, i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s opening: %d lines, want %d", opening, len(g), len(w))
	}
}

// makeFolders makes a binary fill two folders, and stops it cleanly in one and with SIGKILL in the
// other. The folders are named after the binary.
func makeFolders(t *testing.T, binary string) {
	for end, signal := range map[string]os.Signal{"stopped": syscall.SIGTERM, "killed": os.Kill} {
		dir, name := t.TempDir(), filepath.Join(oldFolders, filepath.Base(binary)+"-"+end)
		n, process := runOld(t, binary, dir)
		n.fill()
		process.Stop(signal, time.Minute)
		os.Remove(AdminSocket(config.Config{Data: dir})) //nolint:errcheck // a clean stop removes it
		pack(t, dir, name+".tar.gz")
		n, process = runOld(t, binary, dir)
		n.check(os.WriteFile(name+".txt", []byte(n.dump()), 0o644))
		process.Stop(os.Kill, time.Minute)
	}
}

func runOld(t *testing.T, binary, dir string) (oldNode, *daemon.Process) {
	at := map[string]string{}
	args := []string{"serve", "--data", dir, "--shards", "2", "--metrics", "off", "--disk-free-limit", "0"}
	for _, protocol := range []string{"amqp", "sql", "redis", "etcd", "http"} {
		at[protocol] = daemon.FreeAddress(t)
		args = append(args, "--"+protocol, at[protocol])
	}
	n := oldNode{&faultyNode{t: t}}
	process, err := daemon.Start(exec.Command(binary, args...), filepath.Join(t.TempDir(), "log"))
	n.check(err)
	t.Cleanup(func() { process.Stop(os.Kill, time.Minute) })
	n.check(process.Await(t.Context(), func() error {
		c, err := net.Dial("tcp", at["http"])
		if err == nil {
			err = c.Close()
		}
		return err
	}))
	n.connect(at)
	return n, process
}

func pack(t *testing.T, dir, file string) {
	f, err := os.Create(file)
	must(t, err)
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	must(t, err)
	w := tar.NewWriter(z)
	must(t, errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), z.Close(), f.Close()))
}

func unpack(t *testing.T, file, dir string) {
	f, err := os.Open(file)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err == nil {
			err = unpackOne(filepath.Join(dir, filepath.FromSlash(h.Name)), h, r)
		}
		must(t, err)
	}
}

func unpackOne(path string, h *tar.Header, r io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		return os.MkdirAll(path, 0o700)
	}
	bytes, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes, 0o600)
}

// oldNode is a node whose folder is filled or inspected. It has no faults.
type oldNode struct{ *faultyNode }

// redis sends a command and returns the reply.
func (n oldNode) redis(args ...any) any {
	n.t.Helper()
	v, err := n.rdb.Do(context.Background(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		n.t.Fatalf("%v: %v", args, err)
	}
	return v
}

// far is a duration in ms, fifty years, that does not end while the folder is kept.
const far = 50 * 365 * 24 * 3600 * 1000

// fill creates something of every kind that is stored on disk.
func (n oldNode) fill() {
	ctx := n.t.Context()
	n.fillAMQP()

	n.redis("LPUSH", "list", "a", "b", "c")
	n.redis("RPUSH", "list", "d", "e")
	n.redis("RPOP", "list")
	for i := range 30 {
		n.redis("XADD", "stream", fmt.Sprint(i+1, "-1"), "f", i)
	}
	n.redis("XGROUP", "CREATE", "stream", "g", "0")
	n.redis("XREADGROUP", "GROUP", "g", "c1", "COUNT", 5, "STREAMS", "stream", ">")
	n.redis("XACK", "stream", "g", "2-1")
	n.redis("XDEL", "stream", "7-1")
	n.redis("XTRIM", "stream", "MAXLEN", 27)
	for i := range 6 {
		n.redis("JOB.ENQUEUE", "jobs", fmt.Sprint("job", i), "ID", fmt.Sprint("id", i))
	}
	token := func() any { return n.redis("JOB.TAKE", "jobs", "LOCK", far).([]any)[0].(map[any]any)["token"] }
	n.redis("JOB.DONE", "jobs", "id0", token(), "BACKOFF", far)
	n.redis("JOB.RETRY", "jobs", "id1", token(), "BACKOFF", far)
	token() // of id2, which stays locked
	n.redis("JOB.ENQUEUE", "jobs", "second", "ID", "id2", "REQUEUE")
	n.redis("JOB.ENQUEUE", "jobs", "other", "ID", "id3", "UPDATE")
	n.redis("JOB.CANCEL", "jobs", "id4")
	n.redis("JOB.ENQUEUE", "jobs", "expires", "ID", "id6", "ATTEMPTS", 3, "EXPIRE", far)
	n.redis("JOB.ENQUEUE", "jobs", "waits", "ID", "id7", "BACKOFF", far/2)
	n.redis("JOB.ENQUEUE", "jobs", "waits", "ID", "id7", "BACKOFF", far, "RESETBACKOFF")
	n.redis("SEM.CREATE", "crowd", "ACTIVE", 3, "TRYRELEASE", 2)
	for i := range 10 {
		n.redis("SEM.ENQUEUE", "crowd", "LEASE", far*(i%2), fmt.Sprint("task", i), i%3)
	}
	n.redis("SEM.RELEASE", "crowd", "task2")

	for _, query := range []string{
		"select mbus4.create_queue('sql', 2)",
		"select mbus4.create_consumer('odd', 'sql', $$ (t.data->'n')::int % 2 = 1 $$)",
		"select mbus4.post('sql', 'n=>1')",
		"select mbus4.post('sql', 'n=>2', delayed_until => '2099-01-01')",
		"select mbus4.post('sql', 'n=>3', expires => '2099-01-01')",
		"select mbus4.post('sql', 'n=>4', hstore('consume_after', array[mbus4.post('sql', 'n=>5')]::text))",
	} {
		_, err := n.sql.Exec(ctx, query)
		n.check(err)
	}

	lease, err := n.etcd.Grant(ctx, far/1000)
	n.check(err)
	for i := range 50 {
		_, err := n.etcd.Put(ctx, fmt.Sprint("key", i%20), fmt.Sprint("v", i))
		n.check(err)
	}
	_, err = n.etcd.Put(ctx, "leased", "x", clientv3.WithLease(lease.ID))
	n.check(err)
	_, err = n.etcd.Delete(ctx, "key3")
	n.check(err)

	for _, put := range [][2]string{
		{"users/bob", `{"password_hash":"","tags":"monitoring"}`},
		{"permissions/%2F/bob", `{"configure":"a","write":"b","read":"c"}`},
		{"topic-permissions/%2F/bob", `{"exchange":"amq.topic","write":"b","read":"c"}`},
		{"policies/%2F/longest", `{"pattern":"^dead$","definition":{"max-length":500},"apply-to":"queues"}`},
		{"vhosts/v", `{"description":"other"}`},
		{"vhost-limits/v/max-queues", `{"value":5}`},
	} {
		said, err := n.post(ctx, "PUT", "/api/"+put[0], put[1])
		n.check(err)
		if said[0] != '2' {
			n.t.Fatal(put, said)
		}
	}
	n.publish("", "plain", "last", amqp091.Publishing{}) // its confirm implies that earlier acks are on disk
	n.publish("", "prio", "last", amqp091.Publishing{})
}

func (n oldNode) fillAMQP() {
	ch := n.amqp
	n.check(ch.Confirm(false))
	for name, args := range map[string]amqp091.Table{
		"plain":    nil,
		"dead":     nil,
		"prio":     {"x-max-priority": 5, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"},
		"limited":  {"x-max-length": 3},
		"expiring": {"x-message-ttl": 60000},
		"once":     {"x-message-deduplication": true},
	} {
		_, err := ch.QueueDeclare(name, true, false, false, false, args)
		n.check(err)
	}
	n.check(ch.ExchangeDeclare("delay", "x-delayed-message", true, false, false, false, amqp091.Table{"x-delayed-type": "fanout"}))
	n.check(ch.QueueBind("plain", "", "delay", false, nil))
	n.check(ch.ExchangeBind("delay", "a.*", "amq.topic", false, nil))
	for i := range 300 {
		n.publish("", "plain", fmt.Sprint("plain", i), amqp091.Publishing{})
	}
	for i := range 30 {
		n.publish("", "prio", fmt.Sprint("prio", i), amqp091.Publishing{Priority: uint8(i % 7), MessageId: fmt.Sprint(i)})
	}
	for i := range 5 {
		n.publish("", "limited", fmt.Sprint("limited", i), amqp091.Publishing{})
	}
	n.publish("delay", "", "later", amqp091.Publishing{Headers: amqp091.Table{"x-delay": int64(far)}})
	n.publish("", "once", "once", once)
	for range 10 {
		d, _, err := ch.Get("prio", false)
		n.check(err)
		n.check(d.Nack(false, false))
	}
	for i := range 270 { // the messages left are in both chunks of the queue
		d, _, err := ch.Get("plain", false)
		n.check(err)
		if i%27 == 0 {
			n.check(d.Nack(false, true))
			d, _, err = ch.Get("plain", false)
			n.check(err)
		}
		if i%30 != 0 {
			n.check(d.Ack(false))
		}
	}
}

// once are the properties of a message that is rejected the second time.
var once = amqp091.Publishing{Headers: amqp091.Table{"x-deduplication-header": "key"}}

// publish publishes a message and waits for the confirm.
func (n oldNode) publish(exchange, key, body string, p amqp091.Publishing) {
	n.t.Helper()
	p.DeliveryMode, p.Body = amqp091.Persistent, []byte(body)
	c, err := n.amqp.PublishWithDeferredConfirm(exchange, key, false, false, p)
	n.check(err)
	if acked, err := c.WaitContext(n.t.Context()); err != nil || !acked {
		n.t.Fatal("not confirmed", err)
	}
}

// remaining matches remaining times, and versions, which are not compared.
var (
	remaining    = regexp.MustCompile(`\b(backoff|lock|left):[1-9][0-9]*`)
	versionsJSON = regexp.MustCompile(`"(fiveways|rabbit|rabbitmq|product)_version":"[^"]*",?`)
)

// dump returns what clients see, without changing anything.
func (n oldNode) dump() string {
	ctx := n.t.Context()
	out := &strings.Builder{}
	say := func(what string, v any) { fmt.Fprintf(out, "%s: %v\n", what, v) }
	n.check(n.amqp.Confirm(false))
	n.publish("", "once", "again", once)
	for _, path := range []string{
		"definitions", "queues?sort=name&columns=vhost,name,messages,durable,arguments,policy",
		"queues/%2F/plain/messages?limit=1000", "queues/%2F/prio/messages", "queues/%2F/dead/messages",
		"queues/%2F/limited/messages", "queues/%2F/once/messages", "queues/%2F/sql/messages", "queues/%2F/sql.odd/messages",
		"queues/%2F/jobs/messages", "queues/%2F/jobs/scheduled", "exchanges/%2F/delay/scheduled",
	} {
		said, err := n.post(ctx, "GET", "/api/"+path, "")
		n.check(err)
		say(path, strings.ReplaceAll(versionsJSON.ReplaceAllString(said, ""), "},{", "},\n{")+"\n")
	}
	for _, request := range []string{
		"LRANGE list 0 -1", "XRANGE stream - +", "XPENDING stream g", "XINFO STREAM stream", "XINFO GROUPS stream",
		"JOB.STATUS jobs id0 DETAIL", "JOB.STATUS jobs id1 DETAIL", "JOB.STATUS jobs id2 DETAIL", "JOB.STATUS jobs id3 DETAIL",
		"JOB.STATUS jobs id4 DETAIL", "JOB.STATUS jobs id6 DETAIL", "JOB.STATUS jobs id7 DETAIL",
		"QUEUE.STATUS jobs", "SEM.INFO crowd", "SEM.TASKS crowd",
	} {
		var args []any
		for _, word := range strings.Fields(request) {
			args = append(args, word)
		}
		say(request, remaining.ReplaceAllString(fmt.Sprint(n.redis(args...)), "$1:remaining"))
	}
	for _, rev := range []int64{30, 0} { // 0: now
		got, err := n.etcd.Get(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(rev))
		n.check(err)
		for _, kv := range got.Kvs {
			say("key", fmt.Sprintf("%s %s %d %d %d %x", kv.Key, kv.Value, kv.Version, kv.CreateRevision, kv.ModRevision, kv.Lease))
		}
	}
	leases, err := n.etcd.Leases(ctx)
	n.check(err)
	for _, lease := range leases.Leases {
		left, err := n.etcd.TimeToLive(ctx, lease.ID, clientv3.WithAttachedKeys())
		n.check(err)
		say("lease", fmt.Sprintf("%x %d %s", left.ID, left.GrantedTTL, left.Keys))
	}
	rows, err := n.sql.Query(ctx, "select qname, consumers, ready, delayed, blocked from mbus4.queue")
	n.check(err)
	for rows.Next() {
		v, err := rows.Values()
		n.check(err)
		say("sql", v)
	}
	n.check(rows.Err())
	return out.String()
}
