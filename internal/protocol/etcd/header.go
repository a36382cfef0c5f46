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
