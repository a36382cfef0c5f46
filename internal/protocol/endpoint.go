package protocol

// Endpoint is an address at which a protocol is served.
type Endpoint struct {
	Protocol string // its configuration key
	Address  string // host:port
	TLS      bool   // the port takes TLS, beside plain connections where those are allowed
}
