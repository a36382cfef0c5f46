package etcd

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// oddFill fills a message with random contents: few different keys, interesting numbers, and
// undefined enum values.
func oddFill(r *rand.Rand, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if r.IntN(3) == 0 || f.IsMap() {
			continue
		}
		if f.IsList() {
			list := m.Mutable(f).List()
			for range r.IntN(3) {
				if f.Kind() == protoreflect.MessageKind {
					if depth > 0 {
						oddFill(r, list.AppendMutable().Message(), depth-1)
					}
					continue
				}
				list.Append(oddValue(r, f))
			}
			continue
		}
		if f.Kind() == protoreflect.MessageKind {
			if depth > 0 {
				oddFill(r, m.Mutable(f).Message(), depth-1)
			}
			continue
		}
		m.Set(f, oddValue(r, f))
	}
}

func oddValue(r *rand.Rand, f protoreflect.FieldDescriptor) protoreflect.Value {
	words := []string{"", "a", "b", "c", "\x00", "a\x00", "root", "\xff"}
	numbers := []int64{0, 0, 1, 2, 3, 5, 7, -1, 1 << 40, -1 << 63, 1<<63 - 1}
	n := numbers[r.IntN(len(numbers))]
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.IntN(7) - 1))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(words[r.IntN(len(words)-1)]) // the last is not UTF-8
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(words[r.IntN(len(words))]))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(n)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	default:
		panic("a kind that no request has: " + f.Kind().String())
	}
}

// oddMethods returns the unary methods that accept any request here, except those that lock every
// user out.
func oddMethods(t *testing.T) (all []protoreflect.MethodDescriptor) {
	for _, name := range []protoreflect.FullName{"etcdserverpb.KV", "etcdserverpb.Lease", "etcdserverpb.Maintenance", "etcdserverpb.Cluster", "etcdserverpb.Auth", "v3lockpb.Lock", "v3electionpb.Election"} {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
		if err != nil {
			t.Fatal(err)
		}
		methods := d.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			m := methods.Get(i)
			if !m.IsStreamingClient() && !m.IsStreamingServer() && m.Name() != "AuthEnable" && m.Name() != "Compact" {
				all = append(all, m)
			}
		}
	}
	return all
}

// Every request gets an answer without a panic, and its effects survive a restart.
func TestOddRequests(t *testing.T) {
	n := newNode(t, Options{Shared: protocol.Shared{LoginDelay: -1}})
	conn := dial(t, n.addr).ActiveConnection()
	methods := oddMethods(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		m := methods[r.IntN(len(methods))]
		in := newMessage(t, m.Input())
		oddFill(r, in.ProtoReflect(), 3)
		oddCall(t, conn, m, in)
	}
	for _, in := range []proto.Message{&pb.AlarmRequest{Action: 9}, &pb.AlarmRequest{Action: 1, Alarm: 9}, &pb.AlarmRequest{Action: 2, Alarm: 9}} {
		d, _ := protoregistry.GlobalFiles.FindDescriptorByName("etcdserverpb.Maintenance.Alarm")
		oddCall(t, conn, d.(protoreflect.MethodDescriptor), in)
	}
	want, disk := crashed(t, n)
	ks := keyspace.New(keyspace.Options{Name: "test", Folder: t.TempDir()})
	b := enginetest.Open(t, disk, func(o *broker.Options) { o.StateMachines = protocoltest.Machines(nil, ks) })
	if got, _, err := ks.Hash(t.Context()); err != nil || got != want {
		t.Errorf("after a crash the hash is %x, %v; it was %x", got, err, want)
	}
	enginetest.Close(t, b)
	if err := ks.Close(); err != nil {
		t.Error(err)
	}
}

// crashed returns a node's hash, and the disk of a crash in that state.
func crashed(t *testing.T, n *node) (hash uint32, disk *vfs.Mem) {
	t.Helper()
	for {
		before, _, err := n.keys.Hash(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		disk = n.fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
		if after, _, err := n.keys.Hash(t.Context()); err == nil && after == before {
			return before, disk // no lease has expired in the meantime
		}
	}
}

func newMessage(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	mt, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return mt.New().Interface()
}

// oddCall makes a call, which may be refused but must not fail internally.
func oddCall(t *testing.T, conn *grpc.ClientConn, m protoreflect.MethodDescriptor, in proto.Message) {
	t.Helper()
	patience := 10 * time.Second
	if m.Parent().Name() == "Lock" || m.Parent().Name() == "Election" {
		patience = 5 * time.Millisecond // it may wait for a holder that never releases
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := conn.Invoke(ctx, "/"+string(m.Parent().FullName())+"/"+string(m.Name()), in, newMessage(t, m.Output()))
	switch code := status.Code(err); {
	case code == codes.Internal, code == codes.Unavailable, code == codes.DeadlineExceeded && patience > time.Second:
		t.Errorf("%s {%s}: %v", m.FullName(), prototext.Format(in), err)
	}
}
