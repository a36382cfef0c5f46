package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"time"
)

// Off is the listen address that disables a protocol.
const Off = "off"

// The values of Config.Sync: what a confirm waits for.
const (
	SyncAlways = "always" // fsync before every confirm, shared by all waiting confirms
	SyncBatch  = "batch"  // fsync within BatchDelay; confirms wait for it
	SyncOS     = "os"     // confirm after write(); safe from a machine crash after about a second
)

// The values of Config.ConsumerTimeoutAction: what happens to a consumer that is too slow.
const (
	ConsumerTimeoutCancel = "cancel" // basic.cancel, if supported; the channel stays open
	ConsumerTimeoutClose  = "close"  // its channel is closed
)

// The values of Config.EtcdPutGuarantee: when a put to a queue is answered.
const (
	EtcdGuaranteeNone  = "none"  // at once
	EtcdGuaranteeLocal = "local" // when the message is as durable as Config.Sync requires
	// EtcdGuaranteeQuorum: when a majority of the nodes of a cluster has the message, each as with
	// EtcdGuaranteeLocal.
	EtcdGuaranteeQuorum = "quorum"
)

// The values of Config.TLSClientAuth: whether clients present certificates.
const (
	TLSClientsOff      = "off"      // no certificate is requested
	TLSClientsOptional = "optional" // a certificate is optional, but must be valid
	TLSClientsRequired = "required" // a TLS client without a certificate is rejected
)

// The values of Config.TLSCertUser: which part of a client's certificate names the user. They are
// RabbitMQ's.
const (
	CertCommonName        = "common_name"
	CertDistinguishedName = "distinguished_name"
	CertAlternativeName   = "subject_alternative_name"
)

// The values of Config.TLSPlain: which clients may connect without TLS to a port that accepts it.
const (
	PlainAlways   = "always"
	PlainLoopback = "loopback" // clients on this machine
	PlainNever    = "never"
)

// ErrInvalid is wrapped by every error about a setting: an unknown key, a value out of range, an
// unreadable file.
var ErrInvalid = errors.New("invalid configuration")

// Config is the configuration of one node. Default returns a valid one; the zero value is not.
type Config struct {
	Data     string // folder of the log, checkpoints and lock file; created if missing
	NodeName string // shown to clients and in logs

	AMQP, SQL, Redis, Etcd, HTTP, Metrics string // "host:port" (port 0: any), several with commas; or Off

	// MetricsOptional: the node starts without metrics if their address is in use. It is not a
	// setting: Load sets it when the address is the default.
	MetricsOptional bool

	ClusterListen    string // "host:port" for the other nodes of a cluster; or Off: a single node
	ClusterAdvertise string // that address as seen by other nodes; "": ClusterListen
	ClusterJoin      string // token to join a cluster if the folder is empty; "": none
	ClusterJoinFile  string // file with that token, which may appear later; "": none
	ClusterFound     string // NodeName of the founder, if it has no data and no token file; "": none

	LoadDefinitions string // file of definitions that is imported at the start; "": none

	DefaultUser     string // administrator that replaces an unchanged guest; "": guest stays
	DefaultPassFile string // file with its password; "": use DefaultPass
	DefaultPass     string // its password, from EnvDefaultPass

	TLSCert, TLSKey string // PEM files of the certificate chain and the key; "": no TLS
	TLSClientCA     string // PEM file of the CAs of client certificates; "": none
	TLSClientAuth   string // TLSClientsOff, TLSClientsOptional or TLSClientsRequired
	TLSCertUser     string // part of a client's certificate that names the user: Cert…
	TLSMinVersion   string // "1.2" or "1.3"
	TLSPlain        string // PlainAlways, PlainLoopback or PlainNever; used if there is a certificate

	AuditLog string // file of the audit log, or Off: only in the other log

	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json

	Sync       string        // SyncAlways, SyncBatch or SyncOS
	BatchDelay time.Duration // longest delay of a confirm that shares an fsync under SyncBatch

	MemoryLimit   int64 // bytes of message bodies kept in memory; beyond it they are only on disk
	DiskFreeLimit int64 // free bytes on the data disk below which publishers are blocked
	Shards        int   // number of engine loops; 0 = chosen from the number of CPUs

	AMQPProduct      string        // product name reported to AMQP clients
	RabbitMQVersion  string        // RabbitMQ version reported to clients, "X.Y.Z"
	Heartbeat        time.Duration // proposed to AMQP clients, whole seconds; 0 = none
	FrameMax         int           // largest AMQP frame proposed to clients, in bytes
	ChannelMax       int           // channels per AMQP connection
	ChannelConsumers int           // consumers per channel; 0 = no limit
	MaxMessageSize   int64         // largest message body, in bytes
	MaxConnections   int           // logged-in client connections of the node; 0 = no limit

	ConsumerTimeout       time.Duration // after which an unsettled delivery is requeued; 0 = never
	ConsumerTimeoutAction string        // what happens to its consumer: ConsumerTimeoutCancel or ConsumerTimeoutClose

	SQLIdleTransactionTimeout time.Duration // closes SQL sessions idle in a transaction; 0 = never

	EtcdPutGuarantee   string        // what a put to a queue waits for: EtcdGuaranteeNone, EtcdGuaranteeLocal or EtcdGuaranteeQuorum
	EtcdConsumerLimit  int           // unacknowledged messages of one consumer
	EtcdConsumerIdle   time.Duration // removes idle consumers without watch and lease
	EtcdQuota          int64         // bytes of ordinary keys; beyond it puts fail; 0 = no limit
	EtcdMaxRequestSize int64         // bytes of one request
	EtcdMaxTxnOps      int           // operations of one transaction
	EtcdMaxStreams     int           // open calls and streams of one connection

	EtcdWatchProgressInterval time.Duration // silence before a progress notification

	StatsInterval time.Duration // between samples of the counters, for rates and metrics
	OTLPEndpoint  string        // URL of an OpenTelemetry collector for spans; or Off

	DrainTimeout time.Duration // how long a stop waits for outstanding confirms
}

// Default returns the built-in configuration.
func Default() Config {
	return Config{
		Data:           "./fiveways-data",
		NodeName:       "fiveways",
		AMQP:           "127.0.0.1:5672",
		SQL:            "127.0.0.1:5433",
		Redis:          "127.0.0.1:6380",
		Etcd:           "127.0.0.1:2379",
		HTTP:           "127.0.0.1:15672",
		Metrics:        "127.0.0.1:15692",
		StatsInterval:  5 * time.Second,
		OTLPEndpoint:   Off,
		LogLevel:       "info",
		LogFormat:      "text",
		AuditLog:       Off,
		ClusterListen:  Off,
		TLSClientAuth:  TLSClientsOff,
		TLSCertUser:    CertCommonName,
		TLSMinVersion:  "1.2",
		TLSPlain:       PlainLoopback,
		Sync:           SyncAlways,
		BatchDelay:     5 * time.Millisecond,
		MemoryLimit:    512 << 20,
		DiskFreeLimit:  50 << 20,
		AMQPProduct:    "Fiveways",
		Heartbeat:      60 * time.Second,
		FrameMax:       128 << 10,
		ChannelMax:     2047,
		MaxMessageSize: 128 << 20,
		DrainTimeout:   10 * time.Second,

		RabbitMQVersion: "3.10.8", // the version that all tests compare with

		EtcdPutGuarantee:   EtcdGuaranteeLocal,
		EtcdConsumerLimit:  256,
		EtcdConsumerIdle:   time.Minute,
		EtcdQuota:          2 << 30,
		EtcdMaxRequestSize: 1536 << 10,
		EtcdMaxTxnOps:      128,
		EtcdMaxStreams:     1000,

		EtcdWatchProgressInterval: 10 * time.Minute,

		ConsumerTimeout:       30 * time.Minute,
		ConsumerTimeoutAction: ConsumerTimeoutCancel,
	}
}

// Validate returns an error for every setting that is out of range, with its key, and for every
// pair of contradictory settings.
func (c Config) Validate() error {
	var errs []error
	for _, o := range options {
		v := o.Value(&c)
		if err := v.Set(v.String()); err != nil {
			errs = append(errs, invalid(o.Key, err))
		}
	}
	errs = append(errs, c.checkAddresses()...)
	errs = append(errs, c.checkTLS()...)
	errs = append(errs, c.checkCluster()...)
	errs = append(errs, c.checkDefaultUser()...)
	return errors.Join(errs...)
}

// checkAddresses returns an error for each address that is used twice.
func (c Config) checkAddresses() (errs []error) {
	users := map[string]string{} // listen address -> first key with this address
	for _, key := range ListenKeys() {
		for _, addr := range c.Listen(key) {
			if hasPortZero(addr) {
				continue
			}
			if first, taken := users[addr]; taken {
				errs = append(errs, invalid(key, fmt.Errorf("%s is already the address of %s; give each protocol its own port, or %q", addr, first, Off)))
				continue
			}
			users[addr] = key
		}
	}
	return errs
}

// checkDefaultUser returns an error for a default user without a password, and for a password
// without a user.
func (c Config) checkDefaultUser() (errs []error) {
	switch given := c.DefaultPass != "" || c.DefaultPassFile != ""; {
	case c.DefaultPass != "" && c.DefaultPassFile != "":
		errs = append(errs, invalid("default_pass_file", fmt.Errorf("the password is given twice; use the file or %s", EnvDefaultPass)))
	case c.DefaultUser != "" && !given:
		errs = append(errs, invalid("default_user", fmt.Errorf("it has no password; give default_pass_file or %s", EnvDefaultPass)))
	case c.DefaultUser == "" && given:
		errs = append(errs, invalid("default_user", errors.New("there is a password but no user; set default_user")))
	}
	return errs
}

// checkTLS returns an error for each TLS setting that lacks another one.
func (c Config) checkTLS() (errs []error) {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		errs = append(errs, invalid("tls_cert", errors.New("a certificate needs its key; set both tls_cert and tls_key, or neither")))
	}
	if c.TLSCert == "" && c.TLSPlain == PlainNever {
		errs = append(errs, invalid("tls_plain", errors.New("no client could connect without a certificate; set tls_cert and tls_key")))
	}
	if (c.TLSClientCA == "") != (c.TLSClientAuth == TLSClientsOff) {
		errs = append(errs, invalid("tls_client_auth",
			errors.New("client certificates need a CA and a mode; set tls_client_ca, and tls_client_auth to optional or required")))
	}
	if c.TLSCert == "" && c.TLSClientCA != "" {
		errs = append(errs, invalid("tls_client_ca", errors.New("client certificates need TLS; set tls_cert and tls_key")))
	}
	return errs
}

// checkCluster returns an error for each setting that a cluster node does not support, or lacks.
func (c Config) checkCluster() (errs []error) {
	if c.ClusterListen == Off {
		if c.EtcdPutGuarantee == EtcdGuaranteeQuorum {
			errs = append(errs, invalid("etcd_put_guarantee", errors.New("quorum needs a cluster, and this node is alone; set cluster_listen, or use local")))
		}
		if c.ClusterAdvertise != "" || c.ClusterJoin != "" || c.ClusterJoinFile != "" || c.ClusterFound != "" {
			errs = append(errs, invalid("cluster_listen", errors.New("it is off; a node of a cluster needs an address for the other nodes")))
		}
		return errs
	}
	if c.Sync != SyncAlways {
		errs = append(errs, invalid("sync", fmt.Errorf("%s: a node of a cluster promises other nodes what it has on disk; leave it at %s", c.Sync, SyncAlways)))
	}
	if c.ClusterJoin != "" && c.ClusterJoinFile != "" {
		errs = append(errs, invalid("cluster_join_file", errors.New("the token is given twice; use the file or cluster_join")))
	}
	if c.ClusterFound != "" && c.ClusterJoinFile == "" {
		errs = append(errs, invalid("cluster_found", errors.New("it needs cluster_join_file, which tells a node that has lost its data that there is a cluster")))
	}
	if !IsReachable(c.AdvertisedAddress()) {
		errs = append(errs, invalid("cluster_advertise", fmt.Errorf("%s: other nodes cannot connect there; give the host and port by which they reach this node", c.AdvertisedAddress())))
	}
	return errs
}

// IsReachable reports whether other machines may connect to an address, judging by its form.
func IsReachable(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	return err == nil && isHostPort(addr) && port != "0" && host != "" && !net.ParseIP(host).IsUnspecified()
}

// AdvertisedAddress returns the address at which the other nodes of a cluster reach this one.
func (c Config) AdvertisedAddress() string { return cmp.Or(c.ClusterAdvertise, c.ClusterListen) }

// ListenKeys returns the keys of the protocols with a listen address, in display order.
func ListenKeys() []string { return []string{"amqp", "sql", "redis", "etcd", "http", "metrics"} }

// Listen returns the listen addresses for one of ListenKeys, or none if it is off.
func (c Config) Listen(key string) []string {
	o, _ := lookup(key)
	return addresses(o.Value(&c).String())
}

func invalid(key string, err error) error { return fmt.Errorf("%w: %s: %w", ErrInvalid, key, err) }
