package tls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// node is a broker with a certificate, and the users alice (with a certificate) and bob (with a
// password).
type node struct {
	*brokertest.Broker
	certs string // folder for certificates
}

const patience = time.Minute

func start(t *testing.T, flags ...string) *node {
	t.Helper()
	binary, dir := brokertest.Binary(t), t.TempDir()
	n := &node{certs: filepath.Join(dir, "certs")}
	run(t, "", binary, "tls", "self-signed", "--out", n.certs, "--client", "alice", "--client", "mallory")
	data := filepath.Join(dir, "data")
	must(t, os.Mkdir(data, 0o700))
	for _, user := range []string{"alice", "bob"} {
		run(t, user+"-pw", binary, "user", "add", user, "--tags", "administrator", "--password-stdin", "--data", data)
		run(t, "", binary, "permission", "set", user, ".*", ".*", ".*", "--data", data)
	}
	flags = append([]string{
		"--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0",
		"--tls-cert", n.file("server.pem"), "--tls-key", n.file("server-key.pem"), "--tls-client-ca", n.file("ca.pem"),
	}, flags...)
	var err error
	if n.Broker, err = brokertest.Start(t.Context(), data, flags...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.Kill()
		if t.Failed() {
			t.Logf("broker:\n%s", n.Log())
		}
	})
	return n
}

func (n *node) file(name string) string { return filepath.Join(n.certs, name) }

func run(t *testing.T, input, program string, args ...string) string {
	t.Helper()
	out, err := try(t, input, program, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return out
}

func try(t *testing.T, input, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// need skips the test if a program is missing, or fails it in CI.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no %s here", program)
	}
	t.Skipf("no %s here", program)
}

// trust returns a client's configuration: the certificate authority, and the certificate of a user,
// or none for "".
func (n *node) trust(t *testing.T, user string) *tls.Config {
	t.Helper()
	ca, err := os.ReadFile(n.file("ca.pem"))
	must(t, err)
	c := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}
	c.RootCAs.AppendCertsFromPEM(ca)
	if user != "" {
		pair, err := tls.LoadX509KeyPair(n.file(user+".pem"), n.file(user+"-key.pem"))
		must(t, err)
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

func port(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }

// TestClients connects each client over TLS with a password, with a certificate, with a certificate
// that names no user, and, on this machine, without TLS.
func TestClients(t *testing.T) {
	n := start(t, "--tls-client-auth", "optional")
	t.Run("amqp091-go", func(t *testing.T) { t.Parallel(); testAMQP(t, n) })
	t.Run("pgx", func(t *testing.T) { t.Parallel(); testPGX(t, n) })
	t.Run("curl", func(t *testing.T) { t.Parallel(); testCurl(t, n) })
	t.Run("pika", func(t *testing.T) { t.Parallel(); testPika(t, n) })
	t.Run("programs", func(t *testing.T) { t.Parallel(); testPrograms(t, n) })
}

func testAMQP(t *testing.T, n *node) {
	for _, tc := range []struct {
		name, url, cert string
		auth            amqp.Authentication
		ok              bool
	}{
		{"password", "amqps://", "", &amqp.PlainAuth{Username: "bob", Password: "bob-pw"}, true},
		{"wrong password", "amqps://", "", &amqp.PlainAuth{Username: "bob", Password: "no"}, false},
		{"certificate", "amqps://", "alice", &amqp.ExternalAuth{}, true},
		{"no certificate", "amqps://", "", &amqp.ExternalAuth{}, false},
		{"certificate of nobody", "amqps://", "mallory", &amqp.ExternalAuth{}, false},
		{"certificate without TLS", "amqp://", "", &amqp.ExternalAuth{}, false},
		{"plain", "amqp://", "", &amqp.PlainAuth{Username: "bob", Password: "bob-pw"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := amqp.DialConfig(tc.url+n.Addr(), amqp.Config{SASL: []amqp.Authentication{tc.auth}, TLSClientConfig: n.trust(t, tc.cert)})
			if (err == nil) != tc.ok {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			defer c.Close()
			ch, err := c.Channel()
			must(t, err)
			q, err := ch.QueueDeclare("", false, true, true, false, nil)
			must(t, err)
			body := strings.Repeat("a long message ", 100_000) // many TLS records, both ways
			must(t, ch.PublishWithContext(t.Context(), "", q.Name, false, false, amqp.Publishing{Body: []byte(body)}))
			got, ok, err := ch.Get(q.Name, true)
			if err != nil || !ok || string(got.Body) != body {
				t.Errorf("%v, %v, %d bytes", err, ok, len(got.Body))
			}
		})
	}
}

func testPGX(t *testing.T, n *node) {
	for _, tc := range []struct {
		name, user, password, options, cert string
		ok                                  bool
	}{
		{"password", "bob", "bob-pw", "sslmode=verify-ca", "", true},
		{"password, TLS at once", "bob", "bob-pw", "sslmode=verify-ca sslnegotiation=direct", "", true},
		{"wrong password", "bob", "no", "sslmode=verify-ca", "", false},
		{"certificate", "alice", "", "sslmode=verify-ca", "alice", true},
		{"certificate of another", "bob", "", "sslmode=verify-ca", "alice", false},
		{"certificate of another and password", "bob", "bob-pw", "sslmode=verify-ca", "alice", true},
		{"certificate of nobody", "mallory", "x", "sslmode=verify-ca", "mallory", false},
		{"plain", "bob", "bob-pw", "sslmode=disable", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dsn := fmt.Sprintf("host=127.0.0.1 port=%s user=%s password='%s' dbname=fiveways sslrootcert=%s %s", port(n.SQLAddr()), tc.user, tc.password, n.file("ca.pem"), tc.options)
			if tc.cert != "" {
				dsn += fmt.Sprintf(" sslcert=%s sslkey=%s", n.file(tc.cert+".pem"), n.file(tc.cert+"-key.pem"))
			}
			c, err := pgx.Connect(t.Context(), dsn)
			if (err == nil) != tc.ok {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			defer c.Close(t.Context()) //nolint:errcheck // the test is over
			var who string
			if err := c.QueryRow(t.Context(), "select current_user").Scan(&who); err != nil || who != tc.user {
				t.Errorf("%q, %v", who, err)
			}
		})
	}
}

func testCurl(t *testing.T, n *node) {
	need(t, "curl")
	url := "https://localhost:" + port(n.HTTPAddr()) + "/api/users/bob"
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"password", []string{"-u", "bob:bob-pw", url}, `"name":"bob"`},
		{"certificate", []string{"--cert", n.file("alice.pem"), "--key", n.file("alice-key.pem"), url}, `"name":"bob"`},
		{"certificate and wrong password", []string{"--cert", n.file("alice.pem"), "--key", n.file("alice-key.pem"), "-u", "bob:no", url}, "Login failed"},
		{"certificate of nobody", []string{"--cert", n.file("mallory.pem"), "--key", n.file("mallory-key.pem"), url}, "Login failed"},
		{"no login", []string{url}, "Login needed"},
		{"plain", []string{"-u", "bob:bob-pw", strings.Replace(url, "https", "http", 1)}, `"name":"bob"`},
		{"etcd's JSON", []string{"-d", `{"key":"Zm9v"}`, "https://localhost:" + port(n.EtcdAddr()) + "/v3/kv/range"}, `"header"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := run(t, "", "curl", append([]string{"-sS", "--noproxy", "*", "--cacert", n.file("ca.pem")}, tc.args...)...)
			if !strings.Contains(out, tc.want) {
				t.Errorf("%s lacks %s", out, tc.want)
			}
		})
	}
}

// pika logs in with a certificate.
const pika = `
import pika, ssl, sys
port, ca, cert, key = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)
context.load_cert_chain(cert, key)
c = pika.BlockingConnection(pika.ConnectionParameters("localhost", int(port), ssl_options=pika.SSLOptions(context),
    credentials=pika.credentials.ExternalCredentials()))
ch = c.channel()
q = ch.queue_declare("", exclusive=True).method.queue
ch.basic_publish("", q, b"hi")
print(ch.basic_get(q, auto_ack=True)[2])
c.close()
`

func testPika(t *testing.T, n *node) {
	python, err := filepath.Abs("../clients/.venv/bin/python")
	must(t, err)
	need(t, python)
	out := run(t, "", python, "-c", pika, port(n.Addr()), n.file("ca.pem"), n.file("alice.pem"), n.file("alice-key.pem"))
	if !strings.Contains(out, "b'hi'") {
		t.Error(out)
	}
}

// testPrograms runs the programs that come with the servers, with commands that show the user.
func testPrograms(t *testing.T, n *node) {
	ca, cert, key := n.file("ca.pem"), n.file("alice.pem"), n.file("alice-key.pem")
	redis := func(args ...string) []string {
		return append([]string{"redis-cli", "-h", "127.0.0.1", "-p", port(n.RedisAddr()), "--no-auth-warning"}, args...)
	}
	etcd := func(args ...string) []string {
		return append([]string{"etcdctl", "--endpoints", "https://localhost:" + port(n.EtcdAddr()), "--cacert", ca}, args...)
	}
	psql := func(user, rest string) []string {
		return []string{"psql", "-Atc", "select current_user", fmt.Sprintf("host=localhost port=%s user=%s dbname=fiveways sslmode=verify-full sslrootcert=%s %s", port(n.SQLAddr()), user, ca, rest)}
	}
	secure := []string{"--tls", "--cacert", ca, "--sni", "localhost"}
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"redis-cli with a password", redis(append(secure, "--user", "bob", "--pass", "bob-pw", "client", "list")...), "user=bob"},
		{"redis-cli with a certificate", redis(append(secure, "--cert", cert, "--key", key, "client", "list")...), "user=alice"},
		{"redis-cli, plain", redis("--user", "bob", "--pass", "bob-pw", "ping"), "PONG"},
		{"psql with a password", psql("bob", "password=bob-pw"), "bob"},
		{"psql with a certificate", psql("alice", "sslcert="+cert+" sslkey="+key), "alice"},
		{"psql with a wrong password", psql("bob", "password=no"), `password authentication failed for user "bob"`},
		{"etcdctl with a password", etcd("--user", "bob:bob-pw", "user", "list"), "alice"},
		{"etcdctl with a certificate", etcd("--cert", cert, "--key", key, "user", "list"), "bob"},
		{"etcdctl with a certificate that makes a user", etcd("--cert", cert, "--key", key, "user", "add", "carol:carol-pw"), "carol created"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			need(t, tc.args[0])
			if out, err := try(t, "", tc.args[0], tc.args[1:]...); !strings.Contains(out, tc.want) {
				t.Errorf("%s, %v; want %s", out, err, tc.want)
			}
		})
	}
}

// TestRequired rejects clients without a certificate, and clients without TLS.
func TestRequired(t *testing.T) {
	n := start(t, "--tls-client-auth", "required", "--tls-plain", "never", "--tls-cert-user", "subject_alternative_name", "--tls-min-version", "1.3")
	dial := func(scheme, cert string) error {
		c, err := amqp.DialConfig(scheme+"://"+n.Addr(), amqp.Config{SASL: []amqp.Authentication{&amqp.ExternalAuth{}}, TLSClientConfig: n.trust(t, cert)})
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := dial("amqps", "alice"); err != nil {
		t.Error(err)
	}
	if err := dial("amqps", ""); err == nil {
		t.Error("a client without a certificate got in")
	}
	if err := dial("amqp", ""); err == nil {
		t.Error("a client without TLS got in")
	}
	_, err := pgx.Connect(t.Context(), fmt.Sprintf("host=127.0.0.1 port=%s user=bob password=bob-pw sslmode=disable", port(n.SQLAddr())))
	if err == nil || !strings.Contains(err.Error(), "no encryption") {
		t.Errorf("by SQL without TLS: %v", err)
	}
	old := n.trust(t, "alice")
	old.MaxVersion = tls.VersionTLS12
	if c, err := tls.Dial("tcp", n.HTTPAddr(), old); err == nil {
		c.Close()
		t.Error("TLS 1.2 is spoken")
	}
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
