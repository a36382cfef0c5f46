package inproc

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// callInfo is what a service says beside its messages.
type callInfo struct {
	method string

	mu      sync.Mutex
	header  metadata.MD
	trailer metadata.MD
}

// Method is the full name of the method.
func (i *callInfo) Method() string { return i.method }

// SetHeader adds to the header.
func (i *callInfo) SetHeader(md metadata.MD) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.header = metadata.Join(i.header, md)
	return nil
}

// SendHeader adds to the header.
func (i *callInfo) SendHeader(md metadata.MD) error { return i.SetHeader(md) }

// SetTrailer adds to the trailer.
func (i *callInfo) SetTrailer(md metadata.MD) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.trailer = metadata.Join(i.trailer, md)
	return nil
}

// both returns header and trailer as they are now.
func (i *callInfo) both() (header, trailer metadata.MD) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.header.Copy(), i.trailer.Copy()
}

// tell gives header and trailer to a caller that asked for them with call options.
func (i *callInfo) tell(opts []grpc.CallOption) {
	header, trailer := i.both()
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = trailer
		}
	}
}
