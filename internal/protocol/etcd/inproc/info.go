package inproc

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// callInfo holds the method of a call, and the header and trailer of the service.
type callInfo struct {
	method string

	mu      sync.Mutex
	header  metadata.MD
	trailer metadata.MD
}

// Method returns the full name of the method.
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

// both returns copies of header and trailer.
func (i *callInfo) both() (header, trailer metadata.MD) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.header.Copy(), i.trailer.Copy()
}

// tell stores header and trailer where call options ask for them.
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
