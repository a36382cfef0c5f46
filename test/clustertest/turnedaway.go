package clustertest

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/internal/protocol"
)

// TurnedAway checks that a client of each protocol is told that there is no leader. at has the
// addresses of a node that knows no leader, by protocol. secure is the TLS configuration, or nil
// without TLS.
func TurnedAway(t *testing.T, at map[string]string, secure *tls.Config) {
	for name, try := range map[string]func(*testing.T, string, *tls.Config){
		"amqp": turnedAwayAMQP, "sql": turnedAwaySQL, "redis": turnedAwayRedis, "etcd": turnedAwayEtcd, "http": turnedAwayHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(t, at[name], secure)
		})
	}
}

func turnedAwayAMQP(t *testing.T, addr string, secure *tls.Config) {
	_, err := amqp.DialConfig("amqp://nobody:wrong@"+addr, amqp.Config{Dial: func(string, string) (net.Conn, error) {
		if secure == nil {
			return net.Dial("tcp", addr)
		}
		return tls.Dial("tcp", addr, secure)
	}})
	var said *amqp.Error
	if !errors.As(err, &said) || said.Code != amqp.ConnectionForced || !strings.Contains(said.Reason, protocol.NoLeader) {
		t.Errorf("amqp091-go: %v", err)
	}
}

func turnedAwaySQL(t *testing.T, addr string, secure *tls.Config) {
	o, err := pgx.ParseConfig("postgres://nobody@" + addr + "/fiveways?sslmode=disable")
	must(t, err)
	o.TLSConfig = secure
	_, err = pgx.ConnectConfig(t.Context(), o)
	var said *pgconn.PgError
	if !errors.As(err, &said) || said.Severity != "FATAL" || said.Code != "57P03" || said.Detail != protocol.NoLeader {
		t.Errorf("pgx: %v", err)
	}
}

func turnedAwayRedis(t *testing.T, addr string, secure *tls.Config) {
	c := redis.NewClient(&redis.Options{Addr: addr, TLSConfig: secure, MaxRetries: -1})
	defer c.Close()
	err := c.LPush(t.Context(), "list", "x").Err()
	if err == nil || !redis.HasErrorPrefix(err, "LOADING no node leads") {
		t.Errorf("go-redis: %v", err)
	}
}

func turnedAwayEtcd(t *testing.T, addr string, secure *tls.Config) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, TLS: secure})
	must(t, err)
	defer c.Close()
	if _, err := c.Put(t.Context(), "key", "value"); !errors.Is(err, rpctypes.ErrNoLeader) {
		t.Errorf("clientv3: %v", err)
	}
	if r := <-c.Watch(t.Context(), "key"); r.Err() == nil {
		t.Errorf("clientv3: a watch: %+v", r)
	}
	if got := unavailable(t, addr, "/v3/kv/put", "", secure); got != `{"code":14,"message":"etcdserver: no leader"}` {
		t.Errorf("the JSON gateway: %s", got)
	}
	if got := unavailable(t, addr, "/health", "", secure); got != `{"health":"false","reason":"RAFT NO LEADER"}` {
		t.Errorf("its health: %s", got)
	}
}

func turnedAwayHTTP(t *testing.T, addr string, secure *tls.Config) {
	if got := unavailable(t, addr, "/api/queues", "", secure); got != `{"error":"unavailable","reason":"`+protocol.NoLeader+`"}`+"\n" {
		t.Errorf("the API: %s", got)
	}
	if got := unavailable(t, addr, "/", "text/html,*/*", secure); !strings.Contains(got, `http-equiv="refresh"`) || !strings.Contains(got, "fiveways cluster status") {
		t.Errorf("the page: %s", got)
	}
}

// unavailable returns the body of a response, which must have the status 503.
func unavailable(t *testing.T, addr, path, accept string, secure *tls.Config) string {
	t.Helper()
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, scheme+addr+path, strings.NewReader(`{"key":"a2V5"}`))
	must(t, err)
	r.Header.Set("Accept", accept)
	c := http.Client{Transport: &http.Transport{TLSClientConfig: secure}}
	resp, err := c.Do(r)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s: %s", path, resp.Status)
	}
	return string(body)
}
