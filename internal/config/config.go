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
	SyncAlways = "always" // fsync before every confirm, shared by all that wait
	SyncBatch  = "batch"  // fsync within BatchDelay; confirms wait for it
	SyncOS     = "os"     // confirm after write(); survives the process, and the machine when it is older than a second or so
)

// The values of Config.ConsumerTimeoutAction: what a client gets when it is too slow.
const (
	ConsumerTimeoutCancel = "cancel" // basic.cancel, where it takes that; its channel stays open
	ConsumerTimeoutClose  = "close"  // its channel is closed
)

// The values of Config.EtcdPutGuarantee: when a put to a queue is answered.
const (
	EtcdGuaranteeNone  = "none"  // at once
	EtcdGuaranteeLocal = "local" // when the message is as safe as Config.Sync says
	// EtcdGuaranteeQuorum: when a majority of the nodes of a cluster has it, as EtcdGuaranteeLocal
	// there.
	EtcdGuaranteeQuorum = "quorum"
)

// The values of Config.TLSClientAuth: whether clients show certificates.
const (
	TLSClientsOff      = "off"      // none is asked for
	TLSClientsOptional = "optional" // one that is shown must be good
	TLSClientsRequired = "required" // a TLS client without a certificate is rejected
)

// The values of Config.TLSCertUser: what names the user in a client's certificate. They are
// RabbitMQ's.
const (
	CertCommonName        = "common_name"
	CertDistinguishedName = "distinguished_name"
	CertAlternativeName   = "subject_alternative_name"
)

// The values of Config.TLSPlain: which clients may connect without TLS to a port that takes it.
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
	Data     string // folder of log, checkpoints and lock file; created when missing
	NodeName string // shown to clients and in logs

	AMQP, SQL, Redis, Etcd, HTTP, Metrics string // listen addresses "host:port" (port 0 = any free one), joined by commas; or Off

	// MetricsOptional: a node whose address of Metrics is taken starts without them. It is no
	// setting: Load sets it when the address is the default.
	MetricsOptional bool

	ClusterListen    string // address "host:port" for the other nodes of a cluster; or Off: the node is alone
	ClusterAdvertise string // that address as the others reach it; "": ClusterListen
	ClusterJoin      string // token with which a node whose folder is empty joins a cluster; "": none
	ClusterJoinFile  string // file with that token, which may come later; "": none
	ClusterFound     string // NodeName of the node that founds a cluster when its folder is empty and ClusterJoinFile is not there; "": none

	LoadDefinitions string // file of definitions that is taken in at the start; "": none

	DefaultUser     string // administrator that replaces guest in a folder with unchanged users; "": guest stays
	DefaultPassFile string // file with its password; "": DefaultPass has it
	DefaultPass     string // its password, from EnvDefaultPass

	TLSCert, TLSKey string // PEM files of the certificate, with those between it and its authority, and of its key; "": no TLS
	TLSClientCA     string // PEM file of the authorities of clients' certificates; "": none
	TLSClientAuth   string // TLSClientsOff, TLSClientsOptional or TLSClientsRequired
	TLSCertUser     string // what names the user in a client's certificate: CertCommonName, CertDistinguishedName or CertAlternativeName
	TLSMinVersion   string // "1.2" or "1.3"
	TLSPlain        string // which clients may connect without TLS where there is a certificate: PlainAlways, PlainLoopback or PlainNever

	AuditLog string // file of the audit log, or Off: it goes where other logs go only

	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json

	Sync       string        // SyncAlways, SyncBatch or SyncOS
	BatchDelay time.Duration // longest wait of a confirm for company under SyncBatch

	MemoryLimit   int64 // bytes of message bodies kept in memory; beyond it they live on disk only
	DiskFreeLimit int64 // bytes free on the data folder's disk below which publishers are blocked
	Shards        int   // engine loops; 0 = chosen from the number of CPUs

	AMQPProduct      string        // name of the broker that AMQP clients are told
	RabbitMQVersion  string        // version of RabbitMQ that clients are told, "X.Y.Z"
	Heartbeat        time.Duration // proposed to AMQP clients, whole seconds; 0 = none
	FrameMax         int           // bytes, largest AMQP frame proposed to clients
	ChannelMax       int           // channels per AMQP connection
	ChannelConsumers int           // consumers per channel; 0 = no limit
	MaxMessageSize   int64         // bytes of one message body
	MaxConnections   int           // client connections of the node that have logged in; 0 = no limit but the system's

	ConsumerTimeout       time.Duration // a delivery unsettled for this long goes back to its queue; 0 = never
	ConsumerTimeoutAction string        // what happens to its consumer: ConsumerTimeoutCancel or ConsumerTimeoutClose

	SQLIdleTransactionTimeout time.Duration // a SQL session idle in a transaction for this long ends; 0 = never

	EtcdPutGuarantee   string        // what a put to a queue waits for: EtcdGuaranteeNone, EtcdGuaranteeLocal or EtcdGuaranteeQuorum
	EtcdConsumerLimit  int           // messages that one consumer holds unacknowledged
	EtcdConsumerIdle   time.Duration // a consumer without watch and lease goes after so long without a request
	EtcdQuota          int64         // bytes of ordinary keys, beyond which puts are refused; 0 = no limit
	EtcdMaxRequestSize int64         // bytes of one request
	EtcdMaxTxnOps      int           // operations of one transaction
	EtcdMaxStreams     int           // calls and streams that one connection may have open

	EtcdWatchProgressInterval time.Duration // a watch that asked for progress hears of it after so long without an event

	StatsInterval time.Duration // between samples of the counters, for rates and metrics
	OTLPEndpoint  string        // URL of a collector of OpenTelemetry that is sent spans; or Off

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

		RabbitMQVersion: "3.10.8", // which everything is compared with

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

// Validate reports every setting that is out of its range, each by its key, and every pair of
// settings that contradict each other.
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

// checkAddresses finds addresses that are given twice.
func (c Config) checkAddresses() (errs []error) {
	users := map[string]string{} // listen address -> first key that has it
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

// checkDefaultUser finds a first user without a password, and a password without a user.
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

// checkTLS finds settings of TLS that need others.
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

// checkCluster finds what a node of a cluster cannot do, or cannot do without.
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

// IsReachable reports whether other machines may connect to an address, as it is written.
func IsReachable(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	return err == nil && isHostPort(addr) && port != "0" && host != "" && !net.ParseIP(host).IsUnspecified()
}

// AdvertisedAddress is where the other nodes of a cluster reach this one.
func (c Config) AdvertisedAddress() string { return cmp.Or(c.ClusterAdvertise, c.ClusterListen) }

// ListenKeys names the protocols that have a listen address, in the order they are shown.
func ListenKeys() []string { return []string{"amqp", "sql", "redis", "etcd", "http", "metrics"} }

// Listen returns the listen addresses of one of ListenKeys; none: it is off.
func (c Config) Listen(key string) []string {
	o, _ := lookup(key)
	return addresses(o.Value(&c).String())
}

func invalid(key string, err error) error { return fmt.Errorf("%w: %s: %w", ErrInvalid, key, err) }
