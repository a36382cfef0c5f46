package control

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol"
)

// TestRoleOfANewVoter checks that a voter that does not yet know that it is one is shown as a
// learner.
func TestRoleOfANewVoter(t *testing.T) {
	for _, c := range []struct {
		leaderSays string
		votes      bool
		want       string
	}{
		{protocol.RoleFollower, false, protocol.RoleLearner},
		{protocol.RoleFollower, true, protocol.RoleFollower},
		{protocol.RoleLearner, true, protocol.RoleLearner},
		{protocol.RoleLeader, false, protocol.RoleLeader},
	} {
		m := protocol.Member{Role: c.leaderSays}
		if setAbout(&m, protocol.About{Votes: c.votes}); m.Role != c.want || m.About == nil {
			t.Errorf("%+v: %+v", c, m)
		}
	}
}
