package server

import (
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp"
	"fiveways.dev/fiveways/internal/protocol/pgwire"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/storage/store"
)

var syncModes = map[string]store.SyncMode{
	config.SyncAlways: store.SyncAlways,
	config.SyncBatch:  store.SyncBatch,
	config.SyncOS:     store.SyncOS,
}

// fsyncs maps the sync modes to the values of Redis' appendfsync.
var fsyncs = map[string]string{config.SyncAlways: "always", config.SyncBatch: "always", config.SyncOS: "everysec"}

// common is the configuration that the protocols share.
type common struct {
	protocol.Shared
	version string // of this build
	audit   *protocol.Audit
}

func amqpOptions(cfg config.Config, c common) amqp.Options {
	return amqp.Options{
		Shared:  c.Shared,
		Product: cfg.AMQPProduct, Version: cfg.RabbitMQVersion, Build: c.version, NodeName: unnamed(cfg), FrameMax: uint32(cfg.FrameMax), ChannelMax: uint16(cfg.ChannelMax),
		ChannelConsumers: cfg.ChannelConsumers,
		ConsumerTimeout:  cfg.ConsumerTimeout, ConsumerTimeoutCloses: cfg.ConsumerTimeoutAction == config.ConsumerTimeoutClose,
		Heartbeat: cfg.Heartbeat, MaxMessageSize: cfg.MaxMessageSize,
	}
}

func sqlOptions(cfg config.Config, c common) pgwire.Options {
	return pgwire.Options{
		Shared:         c.Shared,
		MaxMessageSize: cfg.MaxMessageSize, IdleTransactionTimeout: cfg.SQLIdleTransactionTimeout,
	}
}

func redisOptions(cfg config.Config, c common) resp.Options {
	return resp.Options{
		Shared:  c.Shared,
		Version: c.version, NodeName: cfg.NodeName, MaxMessageSize: cfg.MaxMessageSize, MemoryLimit: cfg.MemoryLimit,
		Fsync: fsyncs[cfg.Sync],
	}
}
