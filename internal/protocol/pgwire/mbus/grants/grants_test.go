package grants

import (
	"fmt"
	"testing"
)

func TestChange(t *testing.T) {
	var g Grants
	for _, step := range []struct {
		who, privilege string
		give           bool
		made           int
		want           string
	}{
		{"anna", "select", true, 1, "map[anna:[SELECT]]"},
		{"anna", "ALL", true, 1, "map[anna:[SELECT INSERT]]"},
		{"anna", "all privileges", true, 0, "map[anna:[SELECT INSERT]]"},
		{Public, "Insert", true, 1, "map[anna:[SELECT INSERT] public:[INSERT]]"},
		{"bob", "UPDATE", true, 0, "map[anna:[SELECT INSERT] public:[INSERT]]"},
		{"bob", "SELECT", false, 0, "map[anna:[SELECT INSERT] public:[INSERT]]"},
		{"anna", "SELECT", false, 1, "map[anna:[INSERT] public:[INSERT]]"},
		{"anna", "ALL", false, 1, "map[public:[INSERT]]"},
	} {
		var all []Grant
		for _, p := range Named(step.privilege) {
			all = append(all, Grant{step.who, p})
		}
		made := g.Change(all, step.give)
		if got := fmt.Sprint(g); got != step.want || len(made) != step.made {
			t.Errorf("%+v: %s, %v changed", step, got, made)
		}
	}
	if !g.Has("carl", "INSERT") || g.Has("carl", "SELECT") {
		t.Error("what is granted to everybody is granted to each user")
	}
}
