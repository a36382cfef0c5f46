package cli

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TestRefusals: what a broker does not do is told with a way out, and by the exit code.
func TestRefusals(t *testing.T) {
	sh := newShell(t)
	if out, err := sh.run(`set -e
fiveways queue add orders
fiveways exchange add events topic
fiveways binding add events orders
fiveways message publish orders first
fiveways user add alice --password-stdin < secret
fiveways backup there.tar`); err != nil {
		t.Fatal(err, out)
	}
	for _, tc := range []struct {
		line string
		code int
		says string
	}{
		{"queue show none", exitFailure, "no queue 'none' in vhost '/'; `fiveways queue list` shows what there is"},
		{"queue purge none", exitFailure, "no queue 'none'"},
		{"queue delete none", exitFailure, "no queue 'none'"},
		{"queue delete orders --if-empty", exitFailure, "not empty"},
		{"queue add orders --argument x-max-length=5", exitFailure, "inequivalent arg 'x-max-length' for queue 'orders' in vhost '/'"},
		{"queue add other --argument x-max-length=-1", exitUsage, "invalid arg 'x-max-length'"},
		{"queue list --vhost none", exitFailure, "no such virtual host"},
		{"queue list --columns ,", exitUsage, "--columns names no member"},
		{"queue redrive none", exitFailure, "none"},
		{"exchange show none", exitFailure, "no exchange 'none'"},
		{"exchange delete none", exitFailure, "no exchange 'none'"},
		{"exchange delete events --if-unused", exitFailure, "in use"},
		{"exchange add other nonsense", exitUsage, "unknown exchange type 'nonsense'"},
		{"binding add events none", exitFailure, "no queue 'none' in vhost '/'"},
		{"binding delete events orders --routing-key none", exitFailure, "no binding from 'events' to 'orders'"},
		{"message list none", exitFailure, "queue 'none' in vhost '/'"},
		{"message get none", exitFailure, "no queue 'none'"},
		{"message publish none x", exitFailure, "the message went nowhere"},
		{"message publish --exchange none --routing-key k x", exitFailure, "no exchange 'none' in vhost '/'"},
		{"message move orders none", exitFailure, "queue 'none'"},
		{"message delete orders 9-9", exitFailure, "no such message"},
		{"message cancel none --exchange events", exitFailure, "no message with that id"},
		{"connection show none", exitFailure, "no connection 'none'; `fiveways connection list`"},
		{"connection close none", exitFailure, "no connection 'none'"},
		{"connection close", exitUsage, "--user"},
		{"channel show none", exitFailure, "no channel 'none'"},
		{"parameter set none p {}", exitUsage, "component none not found"},
		{"parameter set shovel p {}", exitUsage, "Must specify 'src-exchange' or 'src-queue'"},
		{"parameter set shovel p - < order.json", exitUsage, `Unrecognised terms n: 1 in p`},
		{"shovel restart none", exitFailure, "no shovel 'none' in vhost '/'; `fiveways shovel list`"},
		{"parameter delete shovel none", exitFailure, "no parameter 'none' in vhost '/'; `fiveways parameter list`"},
		{`policy set p '(' '{"max-length":1}'`, exitUsage, "pattern should be regular expression"},
		{`policy set p x '{"max-lengt":1}'`, exitUsage, `max-lengt: 1 are not recognised policy settings`},
		{`policy set p x '{"max-length":"1"}'`, exitUsage, `'1' is not a valid maximum length`},
		{`policy set p x '{"max-length":1}' --apply-to none`, exitUsage, "apply-to 'none' unrecognised"},
		{`policy set p x '{"max-length":1}' --vhost none`, exitFailure, "`fiveways vhost list`"},
		{"policy delete none", exitFailure, "no policy 'none' in vhost '/'; `fiveways policy list`"},
		{"operator-policy delete none", exitFailure, "`fiveways operator-policy list`"},
		{"definitions import order.jsn", exitFailure, "order.jsn"},
		{"definitions import secret", exitUsage, "JSON"},
		{"user tags nobody management", exitFailure, "user 'nobody': no such user"},
		{"user add alice --password-stdin < secret", exitFailure, "`fiveways user password`"},
		{"user limit alice max-dreams 1", exitUsage, "max-dreams"},
		{"vhost limit none max-queues 1", exitFailure, "no such virtual host; `fiveways vhost list`"},
		{"vhost delete none", exitFailure, "vhost 'none': no such virtual host"},
		{"permission set alice '(' . .", exitUsage, "invalid pattern"},
		{"permission set nobody . . .", exitFailure, "no such user"},
		{"key get /none", exitFailure, "no such key"},
		{"job status none none", exitFailure, "no such job"},
		{"job enqueue mail", exitUsage, "fiveways job enqueue --help"},
		{"semaphore show none", exitFailure, "`fiveways semaphore list`"},
		{"task show none", exitFailure, "no task"},
		{"backup there.tar", exitFailure, "Choose another name"},
		{"health --url http://127.0.0.1:1", exitFailure, "Is the server running there?"},
		{"queue list --url http://alice:secret@127.0.0.1:1", exitUsage, "no password in --url"},
		{"queue list --url ftp://127.0.0.1:1", exitUsage, "http://user@host:15672"},
		{"queue list --data none", exitFailure, "`fiveways serve`"},
	} {
		out, err := sh.run("fiveways " + tc.line)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != tc.code || !strings.Contains(out, tc.says) {
			t.Errorf("%s: %v, want exit code %d and %q in\n%s", tc.line, err, tc.code, tc.says, out)
		}
	}
}

// TestListsInJSON: with -o json each list is one, also an empty one, and what is more than a list is an object.
func TestListsInJSON(t *testing.T) {
	sh := newShell(t)
	for _, line := range []string{
		"queue list", "exchange list", "binding list", "connection list", "channel list", "consumer list", "node list", "listener list", "parameter list", "policy list", "operator-policy list", "shovel list",
		"user list", "vhost list", "key list /",
	} {
		out, err := sh.run("fiveways " + line + " -o json")
		var all []map[string]any
		if err != nil || json.Unmarshal([]byte(out), &all) != nil || all == nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	for _, line := range []string{"overview", "permission list", "message scheduled --queue orders", "message list orders", "queue show orders", "exchange show amq.topic"} {
		out, err := sh.run("fiveways queue add orders; fiveways " + line + " -o json")
		var all map[string]any
		if err != nil || json.Unmarshal([]byte(out), &all) != nil || len(all) == 0 {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}
