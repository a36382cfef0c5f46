package etcd

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// raftTerm is the term of every reply. There is one member, so there never was another election.
const raftTerm = 2

// header is the header of a reply that was not made by the store, at its present revision.
func (s *Server) header() *pb.ResponseHeader { return s.complete(&pb.ResponseHeader{}) }

// complete fills in what the store does not know; a revision that is there stays.
func (s *Server) complete(h *pb.ResponseHeader) *pb.ResponseHeader {
	if h.Revision == 0 {
		h.Revision = s.keys.KV().Rev()
	}
	s.stamp(h)
	return h
}

// stamp fills in who replies.
func (s *Server) stamp(h *pb.ResponseHeader) {
	h.ClusterId, h.MemberId, h.RaftTerm = s.keys.ClusterID(), s.keys.MemberID(), raftTerm
}
