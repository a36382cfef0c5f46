package tls

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/test/brokertest"
)

// secret is used wherever a client or an operator may give one.
const secret = "Tr0ub4dor"

// TestNoSecretInLogs logs in with right and wrong passwords over every protocol, creates users and
// changes passwords, all at the most verbose log level. It then searches the broker's output, the
// audit log and its command line for secrets.
func TestNoSecretInLogs(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	b := brokertest.Run(t, "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-level", "debug", "--audit-log", audit)
	request := func(login, method, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.HTTPAddr()+path, strings.NewReader(body))
		must(t, err)
		name, password, _ := strings.Cut(login, ":")
		r.SetBasicAuth(name, password)
		w, err := http.DefaultClient.Do(r)
		must(t, err)
		w.Body.Close()
	}
	request("guest:guest", "PUT", "/api/users/alice", `{"password":"`+secret+`","tags":"administrator"}`)
	request("guest:guest", "PUT", "/api/permissions/%2F/alice", `{"configure":".*","write":".*","read":".*"}`)
	request("guest:guest", "PUT", "/api/users/bob", `{"password":"`+secret+`","tags":5}`)
	request("guest:guest", "GET", "/api/auth/hash_password/"+secret, "")
	request("nobody:"+secret, "GET", "/api/auth/hash_password/"+secret, "")
	for _, password := range []string{secret, secret + "wrong"} {
		request("alice:"+password, "GET", "/api/users", "")
		if c, err := amqp.Dial("amqp://alice:" + password + "@" + b.Addr() + "/"); err == nil {
			if err := c.UpdateSecret(secret, "renewal"); err != nil {
				t.Error(err)
			}
			c.Close()
		}
		if c, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://alice:%s@%s/fiveways?sslmode=disable", password, b.SQLAddr())); err == nil {
			c.Exec(t.Context(), "create role carol password '"+secret+"'") //nolint:errcheck // refused or not, it must not be logged
			c.Close(t.Context())                                           //nolint:errcheck // it is no longer needed
		}
		r := redis.NewClient(&redis.Options{Addr: b.RedisAddr(), Username: "alice", Password: password, MaxRetries: -1})
		r.Do(t.Context(), "AUTH", "alice", secret, secret)        //nolint:errcheck // as above
		r.Do(t.Context(), "CONFIG", "SET", "requirepass", secret) //nolint:errcheck // as above
		r.Close()
		useEtcd(t, b.EtcdAddr(), password)
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	recorded, err := os.ReadFile(audit)
	must(t, err)
	for name, text := range map[string]string{"log": b.Log(), "audit log": string(recorded)} {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("the %s tells a secret: %q", name, text[max(0, i-200):i+len(secret)])
		}
		for _, hash := range []string{"$argon2id$", "SCRAM-SHA-256$"} {
			if strings.Contains(text, hash) {
				t.Errorf("the %s tells a hash of a password", name)
			}
		}
	}
	for _, want := range []string{`"/api/users/alice"`, `"protocol":"etcd"`, `"password changed"`, `"outcome":"refused"`} {
		if !strings.Contains(string(recorded), want) {
			t.Errorf("the audit log has no %s:\n%s", want, recorded)
		}
	}
	if !strings.Contains(b.Log(), "login refused") {
		t.Error("the log tells of no refused login: it was not that of this broker")
	}
}

func useEtcd(t *testing.T, addr, password string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Username: "alice", Password: password, Logger: zap.NewNop()})
	if err != nil {
		return
	}
	defer c.Close()
	c.UserAdd(ctx, "dave", secret)            //nolint:errcheck // refused or not, it must not be logged
	c.UserChangePassword(ctx, "dave", secret) //nolint:errcheck // as above
}

// TestReloadBySignal checks that a broker loads a new certificate on SIGHUP and keeps its
// connections.
func TestReloadBySignal(t *testing.T) {
	n := start(t, "--tls-client-auth", "optional")
	c, err := amqp.DialConfig("amqps://"+n.Addr(), amqp.Config{SASL: []amqp.Authentication{&amqp.ExternalAuth{}}, TLSClientConfig: n.trust(t, "alice")})
	must(t, err)
	defer c.Close()
	before := n.trust(t, "")
	for _, name := range []string{"ca.pem", "server.pem", "server-key.pem"} {
		must(t, os.Remove(n.file(name)))
	}
	run(t, "", brokertest.Binary(t), "tls", "self-signed", "--out", n.certs)
	must(t, n.Hangup())
	deadline := time.Now().Add(patience)
	for {
		nc, err := tls.Dial("tcp", n.HTTPAddr(), n.trust(t, ""))
		if err == nil {
			nc.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the new certificate is not shown: %v", err)
		}
	}
	if nc, err := tls.Dial("tcp", n.HTTPAddr(), before); err == nil {
		nc.Close()
		t.Error("the certificate before is still shown")
	}
	if ch, err := c.Channel(); err != nil {
		t.Errorf("the connection from before: %v", err)
	} else {
		ch.Close()
	}
}
