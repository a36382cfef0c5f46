package suites

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

// inOurWords maps commands of rabbitmqctl to those of fiveways. $1 is the first argument, and $* is
// all arguments.
var inOurWords = map[string][]string{
	"add_user":                {"user", "add", "--password-stdin", "--", "$1"},
	"delete_user":             {"user", "delete", "--yes", "--", "$1"},
	"set_user_tags":           {"user", "tags", "--", "$*"},
	"add_vhost":               {"vhost", "add", "--", "$1"},
	"delete_vhost":            {"vhost", "delete", "--yes", "--", "$1"},
	"trace_on":                {"vhost", "trace", "--", "$vhost", "on"},
	"trace_off":               {"vhost", "trace", "--", "$vhost", "off"},
	"set_permissions":         {"permission", "set", "--vhost", "$vhost", "--", "$*"},
	"clear_permissions":       {"permission", "clear", "--vhost", "$vhost", "--", "$1"},
	"set_topic_permissions":   {"permission", "topic", "--vhost", "$vhost", "--", "$*"},
	"clear_topic_permissions": {"permission", "clear-topic", "--vhost", "$vhost", "--", "$*"},
	"set_policy":              {"policy", "set", "--vhost", "$vhost", "--priority", "$priority", "--", "$*"},
	"clear_policy":            {"policy", "delete", "--vhost", "$vhost", "--", "$1"},
	"close_connection":        {"connection", "close", "--reason", "$2", "--", "$1"},
}

// standIn runs rabbitmqctl commands on a Fiveways broker, by means of the fiveways command.
type standIn struct {
	binary, data string

	// The rest is used only if the stand-in starts the broker itself.
	flags      []string
	broker     *brokertest.Broker
	channelMax string          // "": the default
	disk       string          // the small file system that holds the data folder
	alarms     map[string]bool // those in force, by resource
}

// ctl runs one command and returns its output.
func (s *standIn) ctl(args ...string) (string, error) {
	c := parseCtl(args)
	switch c.command {
	case "stop_app":
		return "", s.broker.Stop()
	case "start_app":
		return "", s.start(context.Background())
	case "list_connections":
		return s.connections(c.args)
	case "set_vm_memory_high_watermark": // suites set a tiny one, or the default
		return "", s.setAlarm("memory", c.args[0] != "0.4")
	case "eval":
		return "", s.eval(c.args[0])
	}
	words, ok := inOurWords[c.command]
	if !ok {
		return "", fmt.Errorf("suites: usage: rabbitmqctl COMMAND, one of %s", strings.Join(slices.Sorted(maps.Keys(inOurWords)), " "))
	}
	var stdin string
	if c.command == "add_user" {
		stdin = c.args[1] + "\n"
	}
	return s.fiveways(stdin, c.expand(words)...)
}

// fiveways runs a fiveways command, two words and its arguments, on the data folder.
func (s *standIn) fiveways(stdin string, args ...string) (string, error) {
	cmd := exec.Command(s.binary, append([]string{args[0], args[1], "--data", s.data}, args[2:]...)...)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("suites: fiveways %s: %w\n%s", strings.Join(args, " "), err, &errs)
	}
	return string(out), nil
}

// start starts the broker with the current settings.
func (s *standIn) start(ctx context.Context) (err error) {
	flags := s.flags
	if s.channelMax != "" {
		flags = append(slices.Clip(flags), "--channel-max", s.channelMax)
	}
	s.broker, err = brokertest.Start(ctx, s.data, flags...)
	return err
}

// connections lists columns of the connections, separated by tabs. The pid of a connection is its
// name.
func (s *standIn) connections(columns []string) (string, error) {
	out, err := s.fiveways("", "connection", "list", "-o", "json")
	if err != nil {
		return "", err
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return "", fmt.Errorf("suites: connections: %w", err)
	}
	var lines strings.Builder
	for _, c := range list {
		c["pid"] = c["name"]
		for i, column := range columns {
			if i > 0 {
				lines.WriteByte('\t')
			}
			fmt.Fprint(&lines, c[column])
		}
		lines.WriteByte('\n')
	}
	return lines.String(), nil
}

// The Erlang expressions that suites evaluate on RabbitMQ.
var (
	evalChannelMax = regexp.MustCompile(`^application:set_env\(rabbit, channel_max, (\d+)\)\.$`)
	evalLoopback   = regexp.MustCompile(`^application:set_env\(rabbit, loopback_users, \[(<<"guest">>)?\]\)\.$`)
	evalSetAlarm   = regexp.MustCompile(`^rabbit_alarm:set_alarm\(\{\{resource_limit, (\w+), node\(\)\}, \[\]\}\)\.$`)
	evalClearAlarm = regexp.MustCompile(`^rabbit_alarm:clear_alarm\(\{resource_limit, (\w+), node\(\)\}\)\.$`)
)

// eval does what an Erlang expression does on RabbitMQ. The channel limit is a setting here, which
// takes a restart.
func (s *standIn) eval(expression string) error {
	if m := evalChannelMax.FindStringSubmatch(expression); m != nil {
		if s.channelMax = m[1]; m[1] == "0" { // no limit
			s.channelMax = "65535"
		}
		return errors.Join(s.broker.Stop(), s.start(context.Background()))
	}
	if m := evalLoopback.FindStringSubmatch(expression); m != nil {
		from := "anywhere"
		if m[1] != "" {
			from = "loopback"
		}
		_, err := s.fiveways("", "user", "from", "guest", from)
		return err
	}
	if m := evalSetAlarm.FindStringSubmatch(expression); m != nil {
		return s.setAlarm(m[1], true)
	}
	if m := evalClearAlarm.FindStringSubmatch(expression); m != nil {
		return s.setAlarm(m[1], false)
	}
	return fmt.Errorf("suites: no equivalent of %s", expression)
}

const (
	diskSize      = "512m"
	diskFreeLimit = "256MiB" // as a flag of the broker
	ballastBytes  = 300 << 20
	alarmPatience = 10 * time.Second
)

// setAlarm sets or clears the alarm of a resource and returns once the broker has noticed. It fills
// the disk for any resource: the broker has one alarm at a time, which works the same whatever its
// reason.
func (s *standIn) setAlarm(resource string, set bool) error {
	was := len(s.alarms) > 0
	if set {
		s.alarms[resource] = true
	} else {
		delete(s.alarms, resource)
	}
	is := len(s.alarms) > 0
	ballast := filepath.Join(s.disk, "ballast")
	var err error
	switch {
	case is && !was:
		err = os.WriteFile(ballast, make([]byte, ballastBytes), 0o600)
	case was && !is:
		err = os.Remove(ballast)
	}
	if err != nil {
		return err
	}
	return s.awaitAlarm(is)
}

// awaitAlarm waits until the broker has an alarm, or has none.
func (s *standIn) awaitAlarm(want bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(alarmPatience); time.Now().Before(deadline); <-tick.C {
		out, err := exec.Command(s.binary, "health", "--data", s.data).CombinedOutput()
		if err == nil && !want || err != nil && want && bytes.Contains(out, []byte("local-alarms")) {
			return nil
		}
	}
	return fmt.Errorf("suites: the broker did not notice: alarm %v", want)
}

// ctlCall is a parsed command line of rabbitmqctl.
type ctlCall struct {
	command         string
	args            []string
	vhost, priority string
}

// parseCtl parses a command line, in which options and arguments may be mixed. It ignores the
// default queue type of a virtual host: all queues are of the same type here.
func parseCtl(args []string) ctlCall {
	c := ctlCall{vhost: "/", priority: "0"}
	var ignored string
	values := map[string]*string{"-p": &c.vhost, "--priority": &c.priority, "--default-queue-type": &ignored}
	for i := 0; i < len(args); i++ {
		switch value, option := values[args[i]]; {
		case option && i+1 < len(args):
			i++
			*value = args[i]
		case args[i] == "-q":
		case c.command == "":
			c.command = args[i]
		default:
			c.args = append(c.args, args[i])
		}
	}
	return c
}

// expand replaces the words that begin with $ by the arguments of the command.
func (c ctlCall) expand(words []string) []string {
	places := map[string]string{"$vhost": c.vhost, "$priority": c.priority}
	for i, a := range c.args {
		places[fmt.Sprintf("$%d", i+1)] = a
	}
	var out []string
	for _, w := range words {
		if w == "$*" {
			out = append(out, c.args...)
			continue
		}
		if place, ok := places[w]; ok {
			w = place
		}
		out = append(out, w)
	}
	return out
}
