package protocol

import (
	"net"
	"strings"
)

// tries are commands that try out a protocol as user guest, with %s for the address: without TLS,
// and with TLS but without verifying the certificate.
var tries = map[string][2]string{
	"amqp": {
		`python3 -c "import pika; c = pika.BlockingConnection(pika.URLParameters('amqp://%s')).channel(); c.queue_declare('hello'); c.basic_publish('', 'hello', b'hi'); ` +
			`print(c.basic_get('hello', auto_ack=True)[2])"`,
		`python3 -c "import pika, ssl; c = pika.BlockingConnection(pika.ConnectionParameters('%h', %p, ssl_options=pika.SSLOptions(ssl._create_unverified_context()))).channel(); ` +
			`c.queue_declare('hello'); c.basic_publish('', 'hello', b'hi'); print(c.basic_get('hello', auto_ack=True)[2])"`,
	},
	"sql":     {`psql "postgres://guest@%s/fiveways" -c "select mbus4.readme()"`, `psql "postgres://guest@%s/fiveways?sslmode=require" -c "select mbus4.readme()"`},
	"redis":   {`redis-cli -u redis://%s job.enqueue mails "to: ann" id welcome-ann`, `redis-cli --insecure -u rediss://%s job.enqueue mails "to: ann" id welcome-ann`},
	"etcd":    {`etcdctl --endpoints %s put /q/hello/p/1 hi`, `etcdctl --insecure-skip-tls-verify --endpoints https://%s put /q/hello/p/1 hi`},
	"http":    {`curl -u guest:guest http://%s/api/overview`, `curl -k -u guest:guest https://%s/api/overview`},
	"metrics": {`curl http://%s/metrics`, `curl -k https://%s/metrics`},
}

// Local returns the address, host:port, at which programs on this machine reach the protocol.
func (e *Endpoint) Local() string {
	host, port, err := net.SplitHostPort(e.Address)
	if ip := net.ParseIP(host); err == nil && (ip == nil || ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return e.Address
}

// Try returns a command that tries out the protocol from this machine, over TLS if the address
// takes it.
func (e *Endpoint) Try() string {
	host, port, _ := net.SplitHostPort(e.Local()) //nolint:errcheck // the listener has parsed it
	text := tries[e.Protocol][0]
	if e.TLS {
		text = tries[e.Protocol][1]
	}
	return strings.NewReplacer("%s", e.Local(), "%h", host, "%p", port).Replace(text)
}
