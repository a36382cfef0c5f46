package etcd

import "fiveways.dev/fiveways/internal/protocol"

// TLSMode is how etcd's API takes TLS: clients begin with it. Clients that can speak
// both versions of HTTP are those of the JSON paths, which are served by HTTP/1;
// those of gRPC offer HTTP/2 alone.
var TLSMode = protocol.TLSMode{Protocol: "etcd", ALPN: []string{"http/1.1", "h2"}}
