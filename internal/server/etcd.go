package server

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol/etcd"
	"fiveways.dev/fiveways/internal/statemachine"
)

// etcdServer is the etcd v3 API with its store of ordinary keys, which is kept in the broker's log.
type etcdServer struct {
	keys   *keyspace.Store
	server *etcd.Server // nil until start
}

// newEtcd creates the store, which the broker fills when it opens. It returns nil if the protocol
// is off. A node of a cluster keeps the store nevertheless: other nodes may serve the protocol, and
// without the store the log could never free the entries of its keys.
func newEtcd(cfg config.Config, log *slog.Logger) *etcdServer {
	if cfg.Etcd == config.Off && cfg.ClusterListen == config.Off {
		return nil
	}
	place, err := filepath.Abs(cfg.Data)
	if err != nil {
		place = cfg.Data // it only distinguishes nodes
	}
	return &etcdServer{keys: keyspace.New(keyspace.Options{
		Logger: etcdLogger(log), Name: cfg.NodeName, Place: place, Folder: cfg.Data,
		QuotaBytes: quota(cfg), MaxRequestBytes: int(cfg.EtcdMaxRequestSize),
	})}
}

// quota returns the limit of the keys in the store's form.
func quota(cfg config.Config) int64 {
	if cfg.EtcdQuota == 0 {
		return -1
	}
	return cfg.EtcdQuota
}

// start allows changes of the store and creates the server.
func (e *etcdServer) start(b *broker.Broker, cfg config.Config, c common) error {
	if err := e.keys.Start(b.StateMachine(statemachine.Keys)); err != nil {
		return err
	}
	e.server = etcd.New(b, e.keys, etcd.Options{
		Shared: c.Shared, Version: c.version, NodeName: cfg.NodeName, MaxRequestBytes: int(cfg.EtcdMaxRequestSize), MaxTxnOps: cfg.EtcdMaxTxnOps,
		MaxStreams: uint32(cfg.EtcdMaxStreams), WatchProgress: cfg.EtcdWatchProgressInterval,
		PutsAtOnce: cfg.EtcdPutGuarantee == config.EtcdGuaranteeNone, ConsumerLimit: cfg.EtcdConsumerLimit, ConsumerIdle: cfg.EtcdConsumerIdle,
		Audit: c.audit,
	})
	return nil
}

// store returns the store of keys, or nil if there is none.
func (e *etcdServer) store() *keyspace.Store {
	if e == nil {
		return nil
	}
	return e.keys
}

// Serve accepts connections.
func (e *etcdServer) Serve(l net.Listener) error { return e.server.Serve(l) }

// drain ends connections.
func (e *etcdServer) drain(ctx context.Context) error { return e.server.Drain(ctx) }

// stop ends the store's background work. Call it before the broker is closed, which still writes
// the store's checkpoint, and call close afterwards.
func (e *etcdServer) stop() {
	if e != nil {
		e.keys.Stop()
	}
}

func (e *etcdServer) close() error {
	if e == nil {
		return nil
	}
	return e.keys.Close()
}
