package etcd

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// complete fills in what the store does not know of a header; a revision that is there stays.
func (s *Server) complete(h *pb.ResponseHeader) *pb.ResponseHeader {
	if h.Revision == 0 {
		h.Revision = s.keys.KV().Rev()
	}
	s.keys.Fill(h)
	return h
}
