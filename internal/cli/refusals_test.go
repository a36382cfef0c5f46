package cli

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
)

// TestRefusals checks that refusals of a broker are reported with a hint and the right exit code.
func TestRefusals(t *testing.T) {
	sh := newShell(t)
	if out, err := sh.run(`set -e
fiveways queue add orders
fiveways exchange add events topic
fiveways binding add events orders
fiveways queue add full --argument x-max-length=0 --argument x-overflow=reject-publish
fiveways binding add events full --routing-key full
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
		{"queue show none", exitcode.Failure, "no queue 'none' in vhost '/'; `fiveways queue list` shows what there is"},
		{"queue purge none --yes", exitcode.Failure, "no queue 'none'"},
		{"queue delete none --yes", exitcode.Failure, "no queue 'none'"},
		{"queue delete orders --if-empty --yes", exitcode.Failure, "not empty"},
		{"queue add orders --argument x-max-length=5", exitcode.Failure, "inequivalent arg 'x-max-length' for queue 'orders' in vhost '/'"},
		{"queue add other --argument x-max-length=-1", exitcode.WrongUsage, "invalid arg 'x-max-length'"},
		{"queue list --vhost none", exitcode.Failure, "no such virtual host"},
		{"queue list --columns ,", exitcode.WrongUsage, "--columns names no member"},
		{"queue redrive none", exitcode.Failure, "none"},
		{"exchange show none", exitcode.Failure, "no exchange 'none'"},
		{"exchange delete none --yes", exitcode.Failure, "no exchange 'none'"},
		{"exchange delete events --if-unused --yes", exitcode.Failure, "in use"},
		{"exchange add other nonsense", exitcode.WrongUsage, "unknown exchange type 'nonsense'"},
		{"binding add events none", exitcode.Failure, "no queue 'none' in vhost '/'"},
		{"binding delete events orders --routing-key none", exitcode.Failure, "no binding from 'events' to 'orders'"},
		{"message list none", exitcode.Failure, "queue 'none' in vhost '/'"},
		{"message get none", exitcode.Failure, "no queue 'none'"},
		{"message publish none x", exitcode.Failure, "no queue 'none'"},
		{"message publish full x", exitcode.Failure, "queue 'full' in vhost '/' is full and rejects the message"},
		{"message publish --exchange events --routing-key full x", exitcode.Failure, "to exchange 'events'; or a queue is full and rejects it"},
		{"message publish --exchange events --routing-key other x", exitcode.Failure, "the message is unroutable: no queue is bound with routing key 'other' to exchange 'events'"},
		{"message publish --exchange none --routing-key k x", exitcode.Failure, "no exchange 'none' in vhost '/'"},
		{"message move orders none", exitcode.Failure, "queue 'none'"},
		{"message delete orders 9-9 --yes", exitcode.Failure, "no such message"},
		{"message cancel none --exchange events", exitcode.Failure, "no message with that id"},
		{"connection show none", exitcode.Failure, "no connection 'none'; `fiveways connection list`"},
		{"connection close none", exitcode.Failure, "no connection 'none'"},
		{"connection close", exitcode.WrongUsage, "--user"},
		{"channel show none", exitcode.Failure, "no channel 'none'"},
		{"parameter set none p {}", exitcode.WrongUsage, "component none not found"},
		{"parameter set shovel p {}", exitcode.WrongUsage, "Must specify 'src-exchange' or 'src-queue'"},
		{"parameter set shovel p - < order.json", exitcode.WrongUsage, `Unrecognised terms n: 1 in p`},
		{"shovel restart none", exitcode.Failure, "no shovel 'none' in vhost '/'; `fiveways shovel list`"},
		{"parameter delete shovel none", exitcode.Failure, "no parameter 'none' in vhost '/'; `fiveways parameter list`"},
		{`policy set p '(' '{"max-length":1}'`, exitcode.WrongUsage, "pattern should be regular expression"},
		{`policy set p x '{"max-lengt":1}'`, exitcode.WrongUsage, `max-lengt: 1 are not recognised policy settings`},
		{`policy set p x '{"max-length":"1"}'`, exitcode.WrongUsage, `'1' is not a valid maximum length`},
		{`policy set p x '{"max-length":1}' --apply-to none`, exitcode.WrongUsage, "apply-to 'none' unrecognised"},
		{`policy set p x '{"max-length":1}' --vhost none`, exitcode.Failure, "`fiveways vhost list`"},
		{"policy delete none", exitcode.Failure, "no policy 'none' in vhost '/'; `fiveways policy list`"},
		{"operator-policy delete none", exitcode.Failure, "`fiveways operator-policy list`"},
		{"definitions import order.jsn", exitcode.Failure, "order.jsn"},
		{"definitions import secret", exitcode.WrongUsage, "JSON"},
		{"user tags nobody management", exitcode.Failure, "user 'nobody': no such user"},
		{"user add alice --password-stdin < secret", exitcode.Failure, "`fiveways user password`"},
		{"user limit alice max-dreams 1", exitcode.WrongUsage, "max-dreams"},
		{"vhost limit none max-queues 1", exitcode.Failure, "no such virtual host; `fiveways vhost list`"},
		{"vhost delete none --yes", exitcode.Failure, "vhost 'none': no such virtual host"},
		{"permission set alice '(' . .", exitcode.WrongUsage, "invalid pattern"},
		{"permission set nobody . . .", exitcode.Failure, "no such user"},
		{"key get /none", exitcode.Failure, "no such key"},
		{"job status none none", exitcode.Failure, "no such job"},
		{"job enqueue mail", exitcode.WrongUsage, "fiveways job enqueue --help"},
		{"semaphore show none", exitcode.Failure, "`fiveways semaphore list`"},
		{"task show none", exitcode.Failure, "no task"},
		{"backup there.tar", exitcode.Failure, "Choose another name"},
		{"health --url http://127.0.0.1:1", exitcode.Failure, "Is the server running there?"},
		{"queue list --url http://alice:secret@127.0.0.1:1", exitcode.WrongUsage, "no password in --url"},
		{"queue list --url ftp://127.0.0.1:1", exitcode.WrongUsage, "http://user@host:15672"},
		{"queue list --data none", exitcode.Failure, "`fiveways serve`"},
	} {
		out, err := sh.run("fiveways " + tc.line)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != tc.code || !strings.Contains(out, tc.says) {
			t.Errorf("%s: %v, want exit code %d and %q in\n%s", tc.line, err, tc.code, tc.says, out)
		}
	}
}

// TestListsInJSON checks that with -o json each list is an array, even if it is empty, and that a
// result that is more than a list is an object.
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
