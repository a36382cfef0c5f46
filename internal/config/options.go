package config

import (
	"math"
	"strings"
	"time"
)

// Option is one setting: its key, and access to its value in a Config.
type Option struct {
	Key   string // as in the TOML file
	Help  string // one line; the default is appended when it is shown
	value func(*Config) Value
}

// Value reads and writes one setting of a Config as text. Set rejects a value that is out of range,
// with an error that describes the allowed values. The methods are those of a command-line flag.
type Value interface {
	Set(string) error
	String() string
	Type() string
}

// Value returns the option's value in c.
func (o Option) Value(c *Config) Value { return o.value(c) }

// Flag returns the option's command-line flag without the dashes.
func (o Option) Flag() string { return strings.ReplaceAll(o.Key, "_", "-") }

// Env returns the option's environment variable.
func (o Option) Env() string { return envPrefix + strings.ToUpper(o.Key) }

// Options returns all settings in the order of the documentation. The caller may modify the slice.
func Options() []Option { return append([]Option(nil), options...) }

const maxSize = math.MaxInt64

var options = []Option{
	{"data", "folder of the message log; created when missing", func(c *Config) Value { return &text{&c.Data, 1, 4096} }},
	{"load_definitions", "definitions file, RabbitMQ's or exported here, that is imported at every start, or in a cluster once for each content; empty: none",
		func(c *Config) Value { return &path{&c.LoadDefinitions} }},
	{"default_user", "administrator that replaces guest in a data folder with unchanged users; its password is in " + EnvDefaultPass + " or default_pass_file; empty: guest stays",
		func(c *Config) Value { return &text{&c.DefaultUser, 0, 255} }},
	{"default_pass_file", "file with the password of default_user, such as a container secret; a line break at its end is ignored",
		func(c *Config) Value { return &path{&c.DefaultPassFile} }},
	{"node_name", "name of this node, shown to clients and in logs", func(c *Config) Value { return &text{&c.NodeName, 1, 255} }},

	{"amqp", "listen addresses of AMQP 0-9-1, or off", func(c *Config) Value { return &address{&c.AMQP} }},
	{"sql", "listen addresses of the PostgreSQL protocol, or off", func(c *Config) Value { return &address{&c.SQL} }},
	{"redis", "listen addresses of the Redis protocol, or off", func(c *Config) Value { return &address{&c.Redis} }},
	{"etcd", "listen addresses of the etcd v3 API, or off", func(c *Config) Value { return &address{&c.Etcd} }},
	{"http", "listen addresses of the HTTP API, or off", func(c *Config) Value { return &address{&c.HTTP} }},
	{"metrics", "listen addresses of the metrics for Prometheus, readable without a login, or off", func(c *Config) Value { return &address{&c.Metrics} }},

	{"cluster_listen", "address for the other nodes of a cluster, or off: the node is alone", func(c *Config) Value { return &single{&c.ClusterListen, Off} }},
	{"cluster_advertise", "host:port by which the other nodes reach cluster_listen; empty: as it stands there", func(c *Config) Value { return &single{&c.ClusterAdvertise, ""} }},
	{"cluster_join", "token that 'fiveways cluster token' prints, or several, with which a node whose data folder is empty joins; empty: it does not", func(c *Config) Value { return &text{&c.ClusterJoin, 0, 4096} }},
	{"cluster_join_file", "file with such tokens, such as a container secret; a node whose data folder is empty waits until there is one",
		func(c *Config) Value { return &path{&c.ClusterJoinFile} }},
	{"cluster_found", "node_name of the node that founds the cluster if its data folder is empty and cluster_join_file is not there; empty: none",
		func(c *Config) Value { return &text{&c.ClusterFound, 0, 255} }},

	{"tls_cert", "PEM file of the certificate for all protocols; empty: no TLS", func(c *Config) Value { return &path{&c.TLSCert} }},
	{"tls_key", "PEM file of its key", func(c *Config) Value { return &path{&c.TLSKey} }},
	{"tls_client_ca", "PEM file of the CAs that sign client certificates", func(c *Config) Value { return &path{&c.TLSClientCA} }},
	{"tls_client_auth", "clients' certificates: off, optional or required",
		func(c *Config) Value {
			return &choice{&c.TLSClientAuth, []string{TLSClientsOff, TLSClientsOptional, TLSClientsRequired}}
		}},
	{"tls_cert_user", "what names the user in a client's certificate",
		func(c *Config) Value {
			return &choice{&c.TLSCertUser, []string{CertCommonName, CertDistinguishedName, CertAlternativeName}}
		}},
	{"tls_min_version", "oldest version of TLS: 1.2 or 1.3", func(c *Config) Value { return &choice{&c.TLSMinVersion, []string{"1.2", "1.3"}} }},
	{"tls_plain", "clients that may connect without TLS if there is a certificate: always (all), loopback (this machine) or never (none)",
		func(c *Config) Value { return &choice{&c.TLSPlain, []string{PlainAlways, PlainLoopback, PlainNever}} }},

	{"log_level", "debug, info, warn or error", func(c *Config) Value { return &choice{&c.LogLevel, []string{"debug", "info", "warn", "error"}} }},
	{"log_format", "text or json", func(c *Config) Value { return &choice{&c.LogFormat, []string{"text", "json"}} }},
	{"audit_log", "file that administrative changes are appended to, one JSON object per line; or off: they are in the log only",
		func(c *Config) Value { return &text{&c.AuditLog, 1, 4096} }},

	{"sync", "what a confirm waits for: always (fsync), batch (fsync within batch_delay) or os (write; fsync a second later)",
		func(c *Config) Value { return &choice{&c.Sync, []string{SyncAlways, SyncBatch, SyncOS}} }},
	{"batch_delay", "longest delay of an fsync so that more confirms share it, with sync = batch",
		func(c *Config) Value { return &duration{&c.BatchDelay, 100 * time.Microsecond, time.Second, 1} }},

	{"memory_limit", "memory for message bodies; beyond it they are on disk only", func(c *Config) Value { return &size{&c.MemoryLimit, 16 << 20, maxSize} }},
	{"disk_free_limit", "publishers are blocked while the disk has less free space", func(c *Config) Value { return &size{&c.DiskFreeLimit, 0, maxSize} }},
	{"shards", "engine loops; 0 chooses from the number of CPUs", func(c *Config) Value { return &integer{&c.Shards, 0, 1024} }},

	{"amqp_product", "broker product reported to AMQP clients; some depend on it",
		func(c *Config) Value { return &text{&c.AMQPProduct, 1, 255} }},
	{"rabbitmq_version", "RabbitMQ version reported to AMQP clients, in the HTTP API and the metrics: three numbers; some clients depend on it",
		func(c *Config) Value { return &version{&c.RabbitMQVersion} }},
	{"heartbeat", "AMQP heartbeat proposed to clients, in whole seconds; 0s = none",
		func(c *Config) Value { return &duration{&c.Heartbeat, 0, 65535 * time.Second, time.Second} }},
	{"frame_max", "largest AMQP frame, in bytes", func(c *Config) Value { return &integer{&c.FrameMax, 4096, 16 << 20} }},
	{"channel_max", "channels of one AMQP connection", func(c *Config) Value { return &integer{&c.ChannelMax, 1, 65535} }},
	{"consumer_max_per_channel", "consumers of one AMQP channel; 0 = no limit", func(c *Config) Value { return &integer{&c.ChannelConsumers, 0, 1 << 30} }},
	{"max_message_size", "largest message body", func(c *Config) Value { return &size{&c.MaxMessageSize, 1 << 10, 512 << 20} }},
	{"max_connections", "logged-in client connections of this node; 0 = no limit but the system's",
		func(c *Config) Value { return &integer{&c.MaxConnections, 0, 10_000_000} }},

	{"consumer_timeout", "a delivery that is unsettled for this long is requeued; 0s = never",
		func(c *Config) Value { return &duration{&c.ConsumerTimeout, 0, 365 * 24 * time.Hour, time.Millisecond} }},
	{"consumer_timeout_action", "what happens to its consumer: cancel, or close (its channel)",
		func(c *Config) Value {
			return &choice{&c.ConsumerTimeoutAction, []string{ConsumerTimeoutCancel, ConsumerTimeoutClose}}
		}},

	{"sql_idle_transaction_timeout", "an SQL session that is idle in a transaction for this long is closed, and its transaction rolled back; 0s = never",
		func(c *Config) Value {
			return &duration{&c.SQLIdleTransactionTimeout, 0, 24 * 24 * time.Hour, time.Millisecond}
		}},

	{"etcd_put_guarantee", "when a put to a queue is answered: none (at once), local (on this disk) or quorum (on those of a majority of the nodes of a cluster)",
		func(c *Config) Value {
			return &choice{&c.EtcdPutGuarantee, []string{EtcdGuaranteeNone, EtcdGuaranteeLocal, EtcdGuaranteeQuorum}}
		}},
	{"etcd_consumer_limit", "messages that a consumer of the etcd API holds unacknowledged", func(c *Config) Value { return &integer{&c.EtcdConsumerLimit, 1, 65535} }},
	{"etcd_consumer_idle", "a consumer of the etcd API without a watch and a lease is removed after this time without a request",
		func(c *Config) Value {
			return &duration{&c.EtcdConsumerIdle, time.Second, 365 * 24 * time.Hour, time.Millisecond}
		}},
	{"etcd_quota", "size of the ordinary keys of the etcd API beyond which puts are rejected; 0 = no limit", func(c *Config) Value { return &size{&c.EtcdQuota, 0, maxSize} }},
	{"etcd_max_request_size", "largest request of the etcd API", func(c *Config) Value { return &size{&c.EtcdMaxRequestSize, 1 << 10, 32 << 20} }},
	{"etcd_max_txn_ops", "operations of one transaction of the etcd API", func(c *Config) Value { return &integer{&c.EtcdMaxTxnOps, 1, 1 << 20} }},
	{"etcd_max_streams", "open calls and watch streams of one connection of the etcd API", func(c *Config) Value { return &integer{&c.EtcdMaxStreams, 1, 1 << 20} }},
	{"etcd_watch_progress_interval", "a watch of the etcd API with progress notifications gets one after this time without an event",
		func(c *Config) Value {
			return &duration{&c.EtcdWatchProgressInterval, 100 * time.Millisecond, 365 * 24 * time.Hour, time.Millisecond}
		}},

	{"stats_interval", "time between samples of the counters for rates and metrics",
		func(c *Config) Value {
			return &duration{&c.StatsInterval, 100 * time.Millisecond, time.Minute, time.Millisecond}
		}},

	{"otlp_endpoint", "OpenTelemetry collector for spans of messages with a traceparent, such as http://127.0.0.1:4318; or off",
		func(c *Config) Value { return &endpoint{&c.OTLPEndpoint} }},

	{"drain_timeout", "how long a stop waits for outstanding confirms; at most 5s on the leader of a cluster",
		func(c *Config) Value { return &duration{&c.DrainTimeout, 0, time.Hour, 1} }},
}

func lookup(key string) (Option, bool) {
	for _, o := range options {
		if o.Key == key {
			return o, true
		}
	}
	return Option{}, false
}
