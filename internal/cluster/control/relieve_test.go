package control

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol"
)

func TestRoomier(t *testing.T) {
	const limit = 100
	member := func(node uint64, role string, free int64, match uint64) protocol.Member {
		return protocol.Member{Node: node, Role: role, About: &protocol.About{DiskFree: free, DiskFreeLimit: limit}, Match: &match}
	}
	silent := protocol.Member{Node: 2, Role: protocol.RoleFollower, Match: new(uint64(9))}
	full, roomy := member(1, protocol.RoleLeader, limit-1, 9), member(3, protocol.RoleFollower, limit, 7)
	for name, c := range map[string]struct {
		members []protocol.Member
		want    uint64
	}{
		"the one that is furthest":     {[]protocol.Member{full, member(2, protocol.RoleFollower, limit, 8), roomy}, 2},
		"not one that is full":         {[]protocol.Member{full, member(2, protocol.RoleFollower, 0, 8), roomy}, 3},
		"not one that does not answer": {[]protocol.Member{full, silent, roomy}, 3},
		"not one without a vote":       {[]protocol.Member{full, member(2, protocol.RoleLearner, limit, 8)}, 0},
		"all are full":                 {[]protocol.Member{full, member(2, protocol.RoleFollower, 0, 8)}, 0},
		"it has room":                  {[]protocol.Member{member(1, protocol.RoleLeader, limit, 9), roomy}, 0},
		"it does not know":             {[]protocol.Member{member(1, protocol.RoleLeader, -1, 9), roomy}, 0},
		"it does not lead":             {[]protocol.Member{member(1, protocol.RoleFollower, 0, 9), member(3, protocol.RoleLeader, limit, 9)}, 0},
	} {
		if got := roomier(c.members, 1); got != c.want {
			t.Errorf("%s: node %d", name, got)
		}
	}
}
