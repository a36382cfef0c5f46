package etcd

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// complete fills in the fields of a header that the store does not set. It keeps a revision that is
// set.
func (s *Server) complete(h *pb.ResponseHeader) *pb.ResponseHeader {
	if h.Revision == 0 {
		h.Revision = s.keys.KV().Rev()
	}
	s.keys.Fill(h)
	return h
}

// completed returns an answer of the store with its header completed, or the error that clients
// get.
func completed[R interface{ GetHeader() *pb.ResponseHeader }](s *Server, resp R, err error) (R, error) {
	if err != nil {
		var none R
		return none, reply(err)
	}
	s.complete(resp.GetHeader())
	return resp, nil
}
