package resp

import (
	"strings"
	"testing"
)

// TestForeignCommands checks that a command on a data type that this broker lacks gets an
// explanation behind Redis' own error text, and one that needs Redis Cluster the error of a Redis
// without it.
func TestForeignCommands(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	c.Wants("SADD rq:queues q", "-ERR unknown command 'SADD', with args beginning with: 'rq:queues' 'q' (this broker has no sets; it has jobs, lists, channels and "+
		"streams, and COMMAND lists what they take)")
	c.Wants("evalsha abc 0", "-ERR unknown command 'evalsha', with args beginning with: 'abc' '0' (this broker has no scripts; it has jobs, lists, channels and "+
		"streams, and COMMAND lists what they take)")
	c.Wants("nonsense a", "-ERR unknown command 'nonsense', with args beginning with: 'a' ")
	for _, line := range []string{"CLUSTER INFO", "cluster slots", "READONLY", "readwrite", "ASKING"} {
		c.Wants(line, "-ERR This instance has cluster support disabled")
	}
	for name := range foreign {
		if d, ok := lookUp([][]byte{[]byte(name)}); ok {
			t.Errorf("%s is said to be unknown, and there", d.Name)
		}
		if strings.ToLower(name) != name {
			t.Error(name)
		}
	}
}
