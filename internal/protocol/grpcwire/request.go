package grpcwire

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // what clients compress with
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// request is the decoded header block of a call. Calls with the same block share it: it is never
// changed.
type request struct {
	path    string
	method  *method // nil: unknown
	md      metadata.MD
	subtype string              // of the content type, "" or the name of a codec
	comp    encoding.Compressor // compression of the client's messages; nil: none
	encoded string              // grpc-encoding as sent by the client
	timeout time.Duration       // negative: none
	size    uint32              // of the headers

	reset   http2.ErrCode // if not 0, the request is malformed and the call is reset with this code
	refusal *refusal      // if not nil, the answer to the call
}

// refusal is an answer that needs no handler.
type refusal struct {
	http int
	st   *status.Status
}

func refuse(httpStatus int, code codes.Code, format string, args ...any) *refusal {
	return &refusal{httpStatus, status.Newf(code, format, args...)}
}

// expired answers a call whose deadline has passed before it began.
var expired = refuse(http.StatusOK, codes.DeadlineExceeded, "%s", context.DeadlineExceeded)

// requestBuilder collects the fields of one block.
type requestBuilder struct {
	limit  uint32
	size   uint32
	r      request
	method string // :method

	seen        [4]bool // :method, :scheme, :path, :authority
	regular     bool    // a regular field was seen
	malformed   bool
	isGRPC      bool
	contentType string
	headerFault *refusal
}

// pseudoFields holds the indexes of pseudo fields in requestBuilder.seen.
var pseudoFields = map[string]int{":method": 0, ":scheme": 1, ":path": 2, ":authority": 3}

// field adds one field. Fields above the size limit are dropped.
func (b *requestBuilder) field(f hpack.HeaderField) {
	if b.size += f.Size(); b.size > b.limit {
		return
	}
	if b.r.md == nil {
		b.r.md = make(metadata.MD, 8)
		b.r.timeout = -1
	}
	if strings.HasPrefix(f.Name, ":") {
		b.pseudo(f.Name, f.Value)
		return
	}
	b.regular = true
	if !validField(f) {
		b.malformed = true
		return
	}
	b.regularField(f.Name, f.Value)
}

func (b *requestBuilder) pseudo(name, value string) {
	at, ok := pseudoFields[name]
	if !ok || b.regular || b.seen[at] {
		b.malformed = true
		return
	}
	b.seen[at] = true
	switch name {
	case ":method":
		b.method = value
	case ":path":
		b.r.path = value
	case ":authority":
		b.r.md[name] = []string{value}
	}
}

func (b *requestBuilder) regularField(name, value string) {
	md := b.r.md
	switch name {
	case "content-type":
		subtype, ok := contentSubtype(value)
		if !ok {
			b.contentType = value
			return
		}
		md[name] = append(md[name], value)
		b.r.subtype, b.isGRPC = subtype, true
	case "grpc-encoding":
		b.r.encoded = value
	case "grpc-timeout":
		d, err := parseTimeout(value)
		if err != nil {
			b.headerFault = refuse(http.StatusBadRequest, codes.Internal, "malformed grpc-timeout: %v", err)
			return
		}
		b.r.timeout = d
	case "te":
		b.malformed = b.malformed || value != "trailers"
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		b.malformed = true // they belong to HTTP/1
	case "grpc-message-type", "grpc-message", "grpc-status":
	default:
		if isBinary(name) {
			v, err := decodeBinary(value)
			if err != nil {
				b.headerFault = refuse(http.StatusBadRequest, codes.Internal, "malformed binary metadata %q in header %q: %v", value, name, err)
				return
			}
			value = v
		}
		md[name] = append(md[name], value)
	}
}

// request returns the request that the fields describe.
func (b *requestBuilder) request(methods map[string]*method) *request {
	r := &b.r
	r.size = min(b.size, b.limit) // fields above the limit were dropped
	switch {
	case b.size > b.limit:
		r.reset = http2.ErrCodeFrameSize
	case b.malformed || !b.seen[0] || !b.seen[1] || b.r.path == "":
		r.reset = http2.ErrCodeProtocol
	default:
		r.refusal = b.refusal()
	}
	if r.reset != 0 || r.refusal != nil {
		return r
	}
	if r.method = methods[r.path]; r.method == nil {
		r.refusal = &refusal{http.StatusOK, unknownMethod(r.path, methods)}
		return r
	}
	if r.encoded != "" && r.encoded != encoding.Identity {
		if r.comp = encoding.GetCompressor(r.encoded); r.comp == nil {
			r.refusal = refuse(http.StatusOK, codes.Unimplemented, "grpc: Decompressor is not installed for grpc-encoding %q", r.encoded)
		}
	}
	return r
}

// refusal returns the refusal of a request that gRPC does not allow, in grpc-go's order and with
// its texts, or nil.
func (b *requestBuilder) refusal() *refusal {
	md := b.r.md
	if n := len(md["host"]); n > 1 {
		return refuse(http.StatusBadRequest, codes.Internal,
			"num values of :authority: %v, num values of host: %v, both must only have 1 value as per HTTP/2 spec", len(md[":authority"]), n)
	}
	switch {
	case !b.isGRPC:
		return refuse(http.StatusUnsupportedMediaType, codes.InvalidArgument, "invalid gRPC request content-type %q", b.contentType)
	case b.headerFault != nil:
		return b.headerFault
	}
	if host, ok := md["host"]; ok && len(md[":authority"]) == 0 {
		md[":authority"] = host
	}
	delete(md, "host")
	switch {
	case len(md[":authority"]) == 0:
		return refuse(http.StatusBadRequest, codes.Internal, "no host or :authority header present")
	case b.method != http.MethodPost:
		return refuse(http.StatusMethodNotAllowed, codes.Internal, "Received a HEADERS frame with :method %q which should be POST", b.method)
	}
	return nil
}

// unknownMethod returns the status for a path that is not registered.
func unknownMethod(path string, methods map[string]*method) *status.Status {
	rest, ok := strings.CutPrefix(path, "/")
	at := strings.LastIndex(rest, "/")
	if !ok || at < 0 {
		return status.Newf(codes.Unimplemented, "malformed method name: %q", path)
	}
	service, name := rest[:at], rest[at+1:]
	for known := range methods {
		if strings.HasPrefix(known, "/"+service+"/") {
			return status.Newf(codes.Unimplemented, "unknown method %v for service %v", name, service)
		}
	}
	return status.Newf(codes.Unimplemented, "unknown service %v", service)
}

// contentSubtype returns the subtype of a gRPC content type.
func contentSubtype(value string) (subtype string, ok bool) {
	rest, ok := strings.CutPrefix(value, contentType)
	switch {
	case !ok:
		return "", false
	case rest == "":
		return "", true
	case rest[0] != '+' && rest[0] != ';':
		return "", false
	}
	return rest[1:], true
}

// validField reports whether a field may be in an HTTP/2 message.
func validField(f hpack.HeaderField) bool {
	if f.Name == "" {
		return false
	}
	for i := range len(f.Name) {
		if x := f.Name[i]; x <= ' ' || x >= 0x7f || x >= 'A' && x <= 'Z' || x == ':' {
			return false
		}
	}
	for i := range len(f.Value) {
		if x := f.Value[i]; x < ' ' && x != '\t' || x == 0x7f {
			return false
		}
	}
	return true
}

// turnAway answers a call with a refusal. The caller holds mu.
func (c *conn) turnAway(call *Call, r *refusal) {
	if r.http == http.StatusOK {
		if call.req.method != nil && call.req.encoded != "" && call.req.comp == nil {
			call.trailer = metadata.Pairs("grpc-accept-encoding", "gzip")
		}
		c.end(call, r.st)
		return
	}
	call.headersOut = true
	b := c.out.begin()
	at := len(b)
	b = c.enc.begin(append(b, make([]byte, frameHead)...))
	b = appendLiteral(b, ":status", strconv.Itoa(r.http))
	b = appendLiteral(b, "content-type", strings.TrimSuffix(contentType+"+"+call.req.subtype, "+"))
	b, _ = appendStatus(b, 0, r.st, nil)
	if c.closeBlock(b, at, 0, call, http2.FlagHeadersEndStream) != nil {
		return
	}
	if !call.clientDone {
		c.out.end(appendReset(c.out.begin(), call.id, http2.ErrCodeNo))
	}
	c.remove(call)
}
