package rest

import (
	"crypto/x509"
	"regexp"
	"slices"

	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
)

// Node is what the API tells of the node beside what its broker knows. Of what is nil nothing is
// told.
type Node struct {
	Name        string           // of the node
	ClusterName func() string    // that it was given [Name]
	ClusterID   func() string    // that it was given [of the name]
	Product     string           // name of the broker that clients are told
	Version     string           // of this build
	RabbitMQ    string           // version of RabbitMQ that clients are told
	Monitor     *monitor.Monitor // never nil in what packages of areas get
	Clients     *protocol.Clients
	Connections *protocol.Limit            // of connections
	Endpoints   func() []protocol.Endpoint // addresses that are served
	Certificate func() *x509.Certificate   // that TLS shows
	MemoryLimit func() int64               // bytes that the process should stay below
	KeyBytes    func() int64               // bytes of the keys of etcd's API
	Membership  protocol.Cluster           // nil: the node is alone
}

// release is what a version begins with that was given a number.
var release = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)`)

// ProductVersion is the version of this build as three numbers, which is all that some clients can
// parse: what a build between two releases adds to them is left out, and one before any release is
// 0.0.0.
func (n *Node) ProductVersion() string {
	if m := release.FindStringSubmatch(n.Version); m != nil {
		return m[1]
	}
	return "0.0.0"
}

// Cluster is the name of the node as one of a cluster, which it is alone.
func (n *Node) Cluster() string {
	if n.ClusterName == nil {
		return n.Name
	}
	return n.ClusterName()
}

// PermanentID tells the cluster from others, also when it is given another name.
func (n *Node) PermanentID() string {
	if n.ClusterID == nil {
		return "fiveways-" + n.Name
	}
	return n.ClusterID()
}

// Served are the addresses that are served.
func (n *Node) Served() []protocol.Endpoint {
	if n.Endpoints == nil {
		return nil
	}
	return n.Endpoints()
}

// CertificateInUse is what TLS shows, nil without TLS.
func (n *Node) CertificateInUse() *x509.Certificate {
	if n.Certificate == nil {
		return nil
	}
	return n.Certificate()
}

// MostMemory is how many bytes the process should stay below, 0: not known.
func (n *Node) MostMemory() int64 {
	if n.MemoryLimit == nil {
		return 0
	}
	return n.MemoryLimit()
}

// Members are the nodes of the cluster, by number; only this one when it is alone.
func (n *Node) Members() []protocol.Member {
	if n.Membership == nil {
		return []protocol.Member{{Role: protocol.RoleLeader, Up: true, About: &protocol.About{Name: n.Name, Version: n.Version}}}
	}
	return n.Membership.Status().Members
}

// Member is the node of a name; nil: there is none.
func (n *Node) Member(name string) *protocol.Member {
	members := n.Members()
	if i := slices.IndexFunc(members, func(m protocol.Member) bool { return m.Name() == name }); i >= 0 {
		return &members[i]
	}
	return nil
}

// Running are the names of the nodes that are up.
func (n *Node) Running() (names []string) {
	members := n.Members()
	for i := range members {
		if members[i].Up {
			names = append(names, members[i].Name())
		}
	}
	return names
}
