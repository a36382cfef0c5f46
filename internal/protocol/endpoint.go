package protocol

// Endpoint is an address at which a protocol is served.
type Endpoint struct {
	Protocol string // its key in the configuration
	Address  string // host:port
	TLS      bool   // the port takes TLS, and plain connections where they are allowed
}
