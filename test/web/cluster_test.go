package web

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/test/clustertest"
)

// nodeRow returns JavaScript for the text of a node's row.
func nodeRow(name string) string {
	return fmt.Sprintf(`([...document.querySelectorAll("[aria-label='Nodes of the cluster'] tbody tr")].map((r) => r.innerText).find((t) => t.includes(%q)) ?? "")`, name)
}

// TestCluster checks that the page of every node shows all nodes, and which one is down.
func TestCluster(t *testing.T) {
	c := clustertest.Start(t, "--http", "127.0.0.1:0")
	leader := c.Leader()
	name := func(i int) string { return fmt.Sprintf("fiveways-%d", i+1) }
	follower, other := (leader+1)%3, (leader+2)%3
	p := openAt(t, "http://"+c.Nodes[follower].HTTPAddr())
	p.login()
	p.show("#/overview")
	p.sees(nodeRow(name(leader)) + `.includes("leader")`)
	p.sees(nodeRow(name(follower)) + `.includes("you are here")`)
	p.sees(`/follower\s+[\d,]+\s+-?[\d.]+ ms\s+[\d.]+ [KMGT]iB\s+\d+\s/.test(` + nodeRow(name(other)) + `)`)
	p.sees(`!document.body.innerText.includes("If one more node stops")`)
	p.readsIn(".way", c.Nodes[follower].HTTPAddr())
	p.shot("cluster")

	c.Kill(other)
	p.sees(nodeRow(name(other)) + `.includes("down")`)
	p.reads("If one more node stops")
	p.sized(390, 844)
	p.sees(`document.documentElement.scrollWidth <= 390`)
	p.shot("cluster-narrow")
}

// TestNoCluster checks that a single broker shows no nodes.
func TestNoCluster(t *testing.T) {
	p := open(t)
	p.login()
	p.show("#/overview")
	p.reads("Up for")
	p.sees(`document.querySelector("[aria-label='Nodes of the cluster']") === null`)
}
