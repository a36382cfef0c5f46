package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp"
	"fiveways.dev/fiveways/internal/protocol/etcd"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
	"fiveways.dev/fiveways/internal/protocol/pgwire"
	"fiveways.dev/fiveways/internal/protocol/resp"
)

// tlsModes are the ways in which the protocols use TLS on their ports.
var tlsModes = map[string]protocol.TLSMode{
	"amqp": amqp.TLSMode, "sql": pgwire.TLSMode, "redis": resp.TLSMode, "etcd": etcd.TLSMode, "http": httpapi.TLSMode, "metrics": httpapi.MetricsTLSMode,
}

var versions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

var plains = map[string]func(net.Addr) bool{
	config.PlainAlways:   func(net.Addr) bool { return true },
	config.PlainLoopback: protocol.IsLoopback,
	config.PlainNever:    func(net.Addr) bool { return false },
}

var certUsers = map[string]protocol.CertUser{
	config.CertCommonName:        protocol.CommonName,
	config.CertDistinguishedName: protocol.DistinguishedName,
	config.CertAlternativeName:   protocol.AlternativeName,
}

// openTLS reads the certificate. It returns nil if there is none. Errors: protocol.ErrTLS.
func openTLS(cfg config.Config, log *slog.Logger) (*protocol.TLS, error) {
	if cfg.TLSCert == "" {
		return nil, nil
	}
	t, err := protocol.OpenTLS(protocol.TLSOptions{
		Cert: cfg.TLSCert, Key: cfg.TLSKey, ClientCA: cfg.TLSClientCA, ClientMust: cfg.TLSClientAuth == config.TLSClientsRequired,
		MinVersion: versions[cfg.TLSMinVersion], Plain: plains[cfg.TLSPlain], User: certUsers[cfg.TLSCertUser], Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("tls_cert: %w", err)
	}
	return t, nil
}

// OpenAudit opens the file of the audit log, if one is configured.
func OpenAudit(cfg config.Config, log *slog.Logger) (*protocol.Audit, error) {
	if cfg.AuditLog == config.Off {
		return protocol.OpenAudit("", log)
	}
	return protocol.OpenAudit(cfg.AuditLog, log)
}

// watchTLS watches the files of the certificate until the server drains.
func (s *Server) watchTLS() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if s.tls != nil {
		s.running.Go(func() { s.tls.Watch(ctx) })
	}
}

// Reload applies changed files: the certificate, and the destination of the audit log. If something
// is unusable, it is logged and the old version stays in use.
func (s *Server) Reload() error { return errors.Join(s.tls.Reload(), s.audit.Reopen()) }
