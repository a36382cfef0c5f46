package rest

import (
	"crypto/x509"
	"regexp"
	"slices"

	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
)

// Node is what the API shows about the node beyond what its broker knows. The API leaves out what
// is nil.
type Node struct {
	Name        string           // of the node
	ClusterName func() string    // configured name of the cluster [Name]
	ClusterID   func() string    // configured id of the cluster [derived from the name]
	Product     string           // product name that clients see
	Version     string           // of this build
	RabbitMQ    string           // RabbitMQ's version that clients see
	Monitor     *monitor.Monitor // never nil in the packages of the API's areas
	Clients     *protocol.Clients
	Connections *protocol.Limit            // of connections
	Endpoints   func() []protocol.Endpoint // addresses that are served
	Certificate func() *x509.Certificate   // certificate of the TLS listeners
	MemoryLimit func() int64               // soft memory limit of the process in bytes
	KeyBytes    func() int64               // size of the keys of etcd's API in bytes
	Membership  protocol.Cluster           // nil: the node is alone
}

// release matches the release number at the beginning of a version.
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

// Cluster returns the name of the cluster, by default the name of the node.
func (n *Node) Cluster() string {
	if n.ClusterName == nil {
		return n.Name
	}
	return n.ClusterName()
}

// PermanentID returns an id of the cluster that survives renaming.
func (n *Node) PermanentID() string {
	if n.ClusterID == nil {
		return "fiveways-" + n.Name
	}
	return n.ClusterID()
}

// Served returns the addresses that are served.
func (n *Node) Served() []protocol.Endpoint {
	if n.Endpoints == nil {
		return nil
	}
	return n.Endpoints()
}

// CertificateInUse returns the certificate of the TLS listeners, or nil without TLS.
func (n *Node) CertificateInUse() *x509.Certificate {
	if n.Certificate == nil {
		return nil
	}
	return n.Certificate()
}

// MostMemory returns the memory limit of the process in bytes, or 0 if it is unknown.
func (n *Node) MostMemory() int64 {
	if n.MemoryLimit == nil {
		return 0
	}
	return n.MemoryLimit()
}

// Members returns the nodes of the cluster by number, or only this one if it is standalone.
func (n *Node) Members() []protocol.Member {
	if n.Membership == nil {
		return []protocol.Member{{Role: protocol.RoleLeader, Up: true, About: &protocol.About{Name: n.Name, Version: n.Version}}}
	}
	return n.Membership.Status().Members
}

// Member returns the node of a name, or nil if there is none.
func (n *Node) Member(name string) *protocol.Member {
	members := n.Members()
	if i := slices.IndexFunc(members, func(m protocol.Member) bool { return m.Name() == name }); i >= 0 {
		return &members[i]
	}
	return nil
}

// Running returns the names of the nodes that are up.
func (n *Node) Running() (names []string) {
	members := n.Members()
	for i := range members {
		if members[i].Up {
			names = append(names, members[i].Name())
		}
	}
	return names
}
