package etcd

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"google.golang.org/grpc"
)

// newer are calls that etcd 3.5 does not have. They are not served.
var newer = []string{"KV.RangeStream"}

// TestSupportTable checks that the table of the page has exactly the existing calls, each in a row
// below its service.
func TestSupportTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocols/etcd.md")
	if err != nil {
		t.Fatal(err)
	}
	told, calls := callsOfPage(string(text)), callsOfServices()
	for _, call := range told {
		if !slices.Contains(calls, call) {
			t.Errorf("the page tells of %s, which there is not", call)
		}
	}
	for _, call := range calls {
		if !slices.Contains(told, call) && !slices.Contains(newer, call) {
			t.Errorf("the page does not tell of %s", call)
		}
	}
}

var (
	firstCell  = regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	serviceRow = regexp.MustCompile(`^\*\*(\w+)\*\*$`)
	callName   = regexp.MustCompile("`([A-Z][A-Za-z]+)`")
)

// callsOfPage returns the calls in the table, as service and name.
func callsOfPage(text string) (calls []string) {
	service := ""
	for _, row := range firstCell.FindAllStringSubmatch(text, -1) {
		if bold := serviceRow.FindStringSubmatch(row[1]); bold != nil {
			service = bold[1]
			continue
		}
		for _, name := range callName.FindAllStringSubmatch(row[1], -1) {
			calls = append(calls, service+"."+name[1])
		}
	}
	return calls
}

// callsOfServices returns the calls of the etcd API, as service and name.
func callsOfServices() (calls []string) {
	for _, desc := range []grpc.ServiceDesc{
		pb.KV_ServiceDesc, pb.Watch_ServiceDesc, pb.Lease_ServiceDesc, pb.Auth_ServiceDesc, pb.Maintenance_ServiceDesc, pb.Cluster_ServiceDesc,
		v3lockpb.Lock_ServiceDesc, v3electionpb.Election_ServiceDesc,
	} {
		service := desc.ServiceName[strings.LastIndexByte(desc.ServiceName, '.')+1:]
		for _, m := range desc.Methods {
			calls = append(calls, service+"."+m.MethodName)
		}
		for _, s := range desc.Streams {
			calls = append(calls, service+"."+s.StreamName)
		}
	}
	return calls
}
