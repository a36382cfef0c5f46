package etcd

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// errorJSON writes errors of the gateway as etcd up to 3.5 does, since clients read the text in the
// field "error": etcd 3.6 has only "message" and "code".
type errorJSON struct{ *runtime.HTTPBodyMarshaler }

// callError is the body of the answer to a call that failed.
type callError struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	Code    int32  `json:"code"`
}

// streamError is the last object of a stream that failed. Code is etcd 3.6's name for GRPCCode.
type streamError struct {
	GRPCCode   int32  `json:"grpc_code"`
	HTTPCode   int    `json:"http_code"`
	Message    string `json:"message"`
	HTTPStatus string `json:"http_status"`
	Code       int32  `json:"code"`
}

func (m errorJSON) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case *spb.Status:
		return json.Marshal(callError{v.GetMessage(), v.GetMessage(), v.GetCode()})
	case map[string]proto.Message:
		if s, is := v["error"].(*spb.Status); is {
			status := runtime.HTTPStatusFromCode(codes.Code(s.GetCode()))
			return json.Marshal(map[string]streamError{
				"error": {s.GetCode(), status, s.GetMessage(), http.StatusText(status), s.GetCode()},
			})
		}
	}
	return m.HTTPBodyMarshaler.Marshal(v)
}

// noRoute answers requests with an unknown path or another method than POST, as etcd up to 3.5.
func noRoute(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, status int) {
	http.Error(w, http.StatusText(status), status)
}
