package etcd

import "fiveways.dev/fiveways/internal/protocol"

// TLSMode describes TLS for etcd's API: clients begin with it. Clients that offer both versions of
// HTTP use the JSON paths, which are served by HTTP/1; gRPC clients offer only HTTP/2.
var TLSMode = protocol.TLSMode{Protocol: "etcd", ALPN: []string{"http/1.1", "h2"}}
