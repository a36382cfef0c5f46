package duel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "go.etcd.io/etcd/api/v3/etcdserverpb" // the messages are found by name
	_ "go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	_ "go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

// Step is one line of a script.
type Step struct {
	Client     int
	Background bool
	Verb       string // a method such as KV.Put, a keyword, or the name of a watch stream
	Rest       string // the request as text, with relative revisions
	Newer      string // another correct answer; "" if there is none
}

var (
	lineForm   = regexp.MustCompile(`^(go )?(?:(\d+)> )?(\S+)(?: (.*))?$`)
	streamForm = regexp.MustCompile(`^w\d+$`)
	revision   = regexp.MustCompile(`@(-?\d+)`)
)

// ParseStep parses a line.
func ParseStep(line string) (Step, error) {
	m := lineForm.FindStringSubmatch(line)
	if m == nil {
		return Step{}, fmt.Errorf("no step: %q", line)
	}
	s := Step{Client: 1, Background: m[1] != "", Verb: m[3], Rest: m[4]}
	if m[2] != "" {
		s.Client, _ = strconv.Atoi(m[2])
	}
	return s, s.check()
}

// check finds mistakes in a script before anything is run.
func (s Step) check() error {
	var err error
	switch {
	case s.Verb == "token" || s.Verb == "answer" || s.Verb == "settle" || s.isStream() && s.Rest == "end":
	case s.Background && (s.isStream() || !strings.Contains(s.Verb, ".")):
		err = fmt.Errorf("only a method can be asked in the background")
	default:
		_, err = s.request(0)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

func (s Step) isStream() bool { return streamForm.MatchString(s.Verb) }

func (s Step) String() string {
	text := s.Verb
	if s.Rest != "" {
		text += " " + s.Rest
	}
	if s.Client != 1 {
		text = fmt.Sprintf("%d> %s", s.Client, text)
	}
	if s.Background {
		text = "go " + text
	}
	return text
}

// The request messages of keywords.
var wordMessages = map[string]protoreflect.FullName{
	"login": "etcdserverpb.AuthenticateRequest", "await": "etcdserverpb.RangeRequest", "KeepAlive": "etcdserverpb.LeaseKeepAliveRequest",
}

// request returns the message of the step for a server at whose revision base the script began.
func (s Step) request(base int64) (proto.Message, error) {
	var name protoreflect.FullName
	switch word, ok := wordMessages[s.Verb]; {
	case ok:
		name = word
	case s.isStream():
		name = "etcdserverpb.WatchRequest"
	default:
		method, err := s.method()
		if err != nil {
			return nil, err
		}
		name = method.Input().FullName()
	}
	m, err := newMessage(name)
	if err != nil {
		return nil, err
	}
	rest := s.Rest
	if s.Verb == "await" {
		_, rest, _ = strings.Cut(rest, " ")
	}
	text := revision.ReplaceAllStringFunc(rest, func(at string) string {
		n, _ := strconv.ParseInt(at[1:], 10, 64)
		return strconv.FormatInt(base+n, 10)
	})
	return m, prototext.Unmarshal([]byte(text), m)
}

// method returns the method that the verb names.
func (s Step) method() (protoreflect.MethodDescriptor, error) {
	service, name, _ := strings.Cut(s.Verb, ".")
	pkg := "etcdserverpb"
	switch service {
	case "Lock":
		pkg = "v3lockpb"
	case "Election":
		pkg = "v3electionpb"
	}
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(pkg + "." + service + "." + name))
	if err != nil {
		return nil, err
	}
	method, ok := found.(protoreflect.MethodDescriptor)
	if !ok || method.IsStreamingClient() || method.IsStreamingServer() {
		return nil, fmt.Errorf("%s is no method that answers once", s.Verb)
	}
	return method, nil
}

func newMessage(name protoreflect.FullName) (proto.Message, error) {
	t, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if err != nil {
		return nil, err
	}
	return t.New().Interface(), nil
}
