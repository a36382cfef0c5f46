package duel

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// freeFields are fields that legitimately differ between servers: identity, log positions, disk
// usage.
var freeFields = map[protoreflect.FullName]bool{
	"etcdserverpb.ResponseHeader.cluster_id": true, "etcdserverpb.ResponseHeader.member_id": true, "etcdserverpb.ResponseHeader.raft_term": true,
	"etcdserverpb.StatusResponse.version": true, "etcdserverpb.StatusResponse.dbSize": true, "etcdserverpb.StatusResponse.leader": true,
	"etcdserverpb.StatusResponse.raftIndex": true, "etcdserverpb.StatusResponse.raftTerm": true, "etcdserverpb.StatusResponse.raftAppliedIndex": true,
	"etcdserverpb.StatusResponse.dbSizeInUse": true, "etcdserverpb.StatusResponse.storageVersion": true,
	"etcdserverpb.StatusResponse.dbSizeQuota": true, "etcdserverpb.StatusResponse.downgradeInfo": true,
	"etcdserverpb.HashResponse.hash": true, "etcdserverpb.HashKVResponse.hash": true,
	"etcdserverpb.Member.ID": true, "etcdserverpb.Member.name": true, "etcdserverpb.Member.peerURLs": true, "etcdserverpb.Member.clientURLs": true,
	"etcdserverpb.AlarmMember.memberID": true, "etcdserverpb.AuthStatusResponse.authRevision": true,
	"etcdserverpb.AuthenticateResponse.token":   true,
	"etcdserverpb.AlarmResponse.header":         true, // etcd 3.4 has none
	"etcdserverpb.HashKVResponse.hash_revision": true, // nor this
}

// alike reports whether two answers to a step are equal, as far as they must be.
func alike(s Step, answers [2]string) bool {
	if answers[0] == answers[1] || s.Newer != "" && answers[1] == s.Newer {
		return true
	}
	// If a request has two mistakes, another version may report the other one.
	return strings.Contains(s.Rest, "ignore_") && strings.Contains(s.Rest, " lease:") && isPutMistake(answers[0]) && isPutMistake(answers[1])
}

func isPutMistake(answer string) bool {
	return answer == "error InvalidArgument: etcdserver: key not found" || answer == "error NotFound: etcdserver: requested lease not found"
}
