package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
)

// way is how a command reaches its server.
type way string

const (
	nobody    way = ""       // it uses no server
	byHTTP    way = "http"   // a broker's HTTP API: over the admin socket of a folder, or at --url
	byRedis   way = "redis"  // a broker, over the protocol of that name
	byAMQP    way = "amqp"   //
	bySQL     way = "sql"    //
	byEtcd    way = "etcd"   //
	elsewhere way = "others" // a server that is not a broker, named by an argument
)

// row describes a command for the tests of the table.
type row struct {
	command string
	way     way
	url     string // arguments that name a broker by its addresses, such as {redis}; "" means --url http://{http}
	args    string // with which it succeeds on the broker of the table
	before  string // command lines that create what args need, separated by semicolons
	stdin   string
	alone   string   // why the tests of the table do not run it
	list    *listed  // what the flags of a list leave
	filters []filter // what other filter flags leave
	proved  string   // flags that filter, each with the test that covers it: "flag:Test flag:Test"
	bad     []bad
}

// listed describes what the flags of a list leave of two objects in / and one in another virtual
// host.
type listed struct {
	match, keep, drop string // --match; words of the lines that stay and go
	sort              string // a member that differs between any two objects
	inStaging         string // a word of a line that --vhost staging leaves; "" if there is no --vhost
}

// filter has a command's arguments, and words that its output must and must not contain.
type filter struct{ args, has, lacks string }

// bad is an input that is refused: the exit code and the error.
type bad struct {
	args string
	code int
	says string
}

// seeds create the objects for the rows.
var seeds = []string{
	"vhost add staging", "user add alice --password-stdin", "permission set alice .* .* .*", "permission set alice .* .* .* --vhost staging", "permission set guest .* .* .* --vhost staging",
	"permission topic alice amq.topic a b", "permission topic alice amq.topic a b --vhost staging",
	"queue add alpha", "queue add beta", "queue add gamma --vhost staging",
	"exchange add alpha topic", "exchange add beta fanout", "exchange add gamma topic --vhost staging",
	"exchange add later x-delayed-message --argument x-delayed-type=fanout", "binding add later beta",
	"binding add alpha alpha --routing-key k1", "binding add alpha beta --routing-key k2", "binding add gamma gamma --vhost staging",
	"message publish alpha one --header n=1", "message publish alpha two --header n=2",
	`message publish --exchange later first --header x-delay=86400000 --properties {"message_id":"first"}`,
	`message publish --exchange later second --header x-delay=86400000 --properties {"message_id":"second"}`,
	`policy set alpha ^x {"max-length":5}`, `policy set beta ^y {"max-length":6} --priority 1`, `policy set gamma ^z {"max-length":7} --vhost staging`,
	`operator-policy set alpha ^x {"max-length":5}`, `operator-policy set beta ^y {"max-length":6} --priority 1`, `operator-policy set gamma ^z {"max-length":7} --vhost staging`,
	`parameter set shovel alpha {"src-uri":"amqp://","src-queue":"sa","dest-uri":"amqp://","dest-queue":"da"}`,
	`parameter set shovel beta {"src-uri":"amqp://","src-queue":"sb","dest-uri":"amqp://","dest-queue":"db"}`,
	`parameter set shovel gamma {"src-uri":"amqp:///staging","src-queue":"sc","dest-uri":"amqp:///staging","dest-queue":"dc"} --vhost staging`,
	"key set /alpha/1 a", "key set /beta/1 b",
	"semaphore set alpha --active 1 --try-release 0", "semaphore set beta", "semaphore set gamma --vhost staging",
	"semaphore enqueue alpha 1 9", "semaphore enqueue alpha 2 8", "semaphore enqueue alpha 3 7",
	"job enqueue mail first --id one", "job enqueue mail second --id two", "job enqueue post third --id three",
}

// rows has a row for every command.
var rows = slices.Concat(definitionRows, lookingRows, messageRows, accessRows, jobRows, semaphoreRows, serverRows)

var definitionRows = []row{
	{command: "queue list", way: byHTTP, list: &listed{"^alpha$", "alpha", "beta", "name", "gamma"},
		bad: []bad{{"--match (", exitcode.WrongUsage, "--match: error parsing regexp"}, {"--columns ,", exitcode.WrongUsage, "--columns names no member"}, {"--vhost none", exitcode.Failure, "fiveways vhost list"}}},
	{command: "queue show", way: byHTTP, args: "alpha", bad: []bad{{"none", exitcode.Failure, "fiveways queue list"}}},
	{command: "queue add", way: byHTTP, args: "new --argument x-max-length=5", before: "queue delete new --yes",
		bad: []bad{{"alpha --argument x-max-length=5", exitcode.Failure, "inequivalent arg"}, {"q --argument x", exitcode.WrongUsage, "not NAME=VALUE"}, {"q --argument x-max-length=-1", exitcode.WrongUsage, "x-max-length"}}},
	{command: "queue delete", way: byHTTP, args: "gone --yes", before: "queue add gone", bad: []bad{{"alpha --if-empty --yes", exitcode.Failure, "not empty"}, {"alpha", exitcode.WrongUsage, "it needs --yes, as there is no terminal to ask on: Delete queue 'alpha' in vhost '/' with all its messages (2 now)?"}, {"alphaa", exitcode.Failure, "did you mean 'alpha'?"}}},
	{command: "queue purge", way: byHTTP, args: "full --yes", before: "queue add full", bad: []bad{{"none", exitcode.Failure, "fiveways queue list"}}},
	{command: "queue redrive", way: byHTTP, args: "dead", before: "queue add dead", proved: "filter:TestRequests limit:TestRequests rate:TestRequests",
		bad: []bad{{"none", exitcode.Failure, "fiveways queue list"}, {"dead --rate -1", exitcode.WrongUsage, "rate"}, {"dead --filter (", exitcode.WrongUsage, "filter"}}},
	{command: "exchange list", way: byHTTP, list: &listed{"^alpha$", "alpha", "beta", "name", "gamma"}},
	{command: "exchange show", way: byHTTP, args: "alpha", bad: []bad{{"none", exitcode.Failure, "fiveways exchange list"}}},
	{command: "exchange add", way: byHTTP, args: "new fanout", bad: []bad{{"x nonsense", exitcode.WrongUsage, "unknown exchange type 'nonsense'"}, {"alpha fanout", exitcode.Failure, "inequivalent arg 'type'"}}},
	{command: "exchange delete", way: byHTTP, args: "gone --yes", before: "exchange add gone fanout", bad: []bad{{"alpha --if-unused --yes", exitcode.Failure, "in use"}, {"alpha", exitcode.WrongUsage, "it needs --yes"}}},
	{command: "binding list", way: byHTTP, list: &listed{"^alpha$", "k1", "k2", "routing_key", "gamma"}},
	{command: "binding add", way: byHTTP, args: "alpha beta --routing-key more", bad: []bad{{"alpha none", exitcode.Failure, "fiveways queue list"}, {"alpha alpha --argument x", exitcode.WrongUsage, "not NAME=VALUE"}}},
	{command: "binding delete", way: byHTTP, args: "alpha beta --routing-key gone", before: "binding add alpha beta --routing-key gone", bad: []bad{{"alpha beta --routing-key none", exitcode.Failure, "no binding"}}},
	{command: "policy list", way: byHTTP, list: &listed{"^alpha$", "alpha", "beta", "name", "gamma"}},
	{command: "policy set", way: byHTTP, args: `new ^x {"max-length":5}`, bad: []bad{
		{`p x {"max-lengt":1}`, exitcode.WrongUsage, "max-lengt: 1"}, {"p x {", exitcode.WrongUsage, "JSON"}, {"p x []", exitcode.WrongUsage, "JSON object"}, {`p ( {"max-length":1}`, exitcode.WrongUsage, "pattern should be regular expression"},
		{`p x {"max-length":"1"}`, exitcode.WrongUsage, "'1'"}, {`p x {"max-length":1} --apply-to none`, exitcode.WrongUsage, "'none'"}, {`p x {"max-length":1} --vhost none`, exitcode.Failure, "fiveways vhost list"}}},
	{command: "policy delete", way: byHTTP, args: "gone", before: `policy set gone ^q {"max-length":5}`, bad: []bad{{"none", exitcode.Failure, "fiveways policy list"}}},
	{command: "operator-policy list", way: byHTTP, list: &listed{"^alpha$", "alpha", "beta", "name", "gamma"}},
	{command: "operator-policy set", way: byHTTP, args: `new ^x {"max-length":5}`, bad: []bad{{`p x {"max-lengt":1}`, exitcode.WrongUsage, "max-lengt: 1"}, {"p x 5", exitcode.WrongUsage, "JSON object"}}},
	{command: "operator-policy delete", way: byHTTP, args: "gone", before: `operator-policy set gone ^q {"max-length":5}`, bad: []bad{{"none", exitcode.Failure, "fiveways operator-policy list"}}},
	{command: "parameter list", way: byHTTP, args: "shovel", list: &listed{"^alpha$", "alpha", "beta", "name", "gamma"},
		filters: []filter{{"shovel", "alpha beta", ""}}, bad: []bad{{"--vhost /", exitcode.WrongUsage, "COMPONENT"}}},
	{command: "parameter set", way: byHTTP, args: `shovel new {"src-uri":"amqp://","src-queue":"s","dest-uri":"amqp://","dest-queue":"d"}`,
		bad: []bad{{"none p {}", exitcode.WrongUsage, "none"}, {"shovel p {", exitcode.WrongUsage, "JSON"}, {"shovel p []", exitcode.WrongUsage, "src-"}, {"shovel p {}", exitcode.WrongUsage, "src-"}, {`shovel p {"n":1}`, exitcode.WrongUsage, "n: 1"}}},
	{command: "parameter delete", way: byHTTP, args: "shovel gone", before: `parameter set shovel gone {"src-uri":"amqp://","src-queue":"s","dest-uri":"amqp://","dest-queue":"d"}`,
		bad: []bad{{"shovel none", exitcode.Failure, "fiveways parameter list"}}},
	{command: "shovel list", way: byHTTP, list: &listed{"^alpha$", "alpha", "beta", "name", "gamma"}},
	{command: "shovel restart", way: byHTTP, args: "alpha", bad: []bad{{"none", exitcode.Failure, "fiveways shovel list"}}},
	{command: "definitions export", way: byHTTP, args: "", filters: []filter{{"--vhost staging", "gamma", "alpha"}}, bad: []bad{{"--vhost none", exitcode.Failure, "fiveways vhost list"}}},
	{command: "definitions import", way: byHTTP, args: "words", filters: []filter{{"words --vhost staging", "", ""}},
		bad: []bad{{"none.json", exitcode.Failure, "none.json"}, {"prose", exitcode.WrongUsage, "JSON"}, {"list", exitcode.WrongUsage, "takes an object"}}},
}

var lookingRows = []row{
	{command: "overview", way: byHTTP},
	{command: "health", way: byHTTP},
	{command: "node list", way: byHTTP, list: &listed{"^none", "", "fiveways", "name", ""}},
	{command: "listener list", way: byHTTP, list: &listed{"^amqp$", "amqp", "redis", "protocol", ""}},
	{command: "connection list", way: byHTTP, list: &listed{"{one}", "{one}", "{two}", "name", "{staging}"}},
	{command: "connection show", way: byHTTP, args: "'{one}'", bad: []bad{{"none", exitcode.Failure, "fiveways connection list"}}},
	{command: "connection close", way: byHTTP, args: "--user alice", proved: "user:TestRequests", bad: []bad{{"", exitcode.WrongUsage, "--user"}, {"none", exitcode.Failure, "fiveways connection list"}}},
	{command: "channel list", way: byHTTP, list: &listed{"{one}", "{one}", "{two}", "name", "{staging}"}},
	{command: "channel show", way: byHTTP, args: "'{one} (1)'", bad: []bad{{"none", exitcode.Failure, "fiveways channel list"}}},
	{command: "consumer list", way: byHTTP, list: &listed{"^alpha$", "alpha", "beta", "queue.name", "gamma"}},
	{command: "task list", way: byHTTP, args: "dead", before: "queue add dead; queue redrive dead", list: &listed{"^none$", "", "redrive", "id", ""}, proved: "vhost:TestRequests", bad: []bad{{"none", exitcode.Failure, "none"}}},
	{command: "task show", way: byHTTP, args: "{task}", before: "queue add dead; queue redrive dead", bad: []bad{{"none", exitcode.Failure, "no task"}}},
	{command: "task stop", way: byHTTP, args: "{task}", before: "queue add dead; queue redrive dead", bad: []bad{{"none", exitcode.Failure, "no task"}}},
	{command: "key list", way: byHTTP, filters: []filter{{"/alpha", "/alpha/1", "/beta/1"}}},
	{command: "key get", way: byHTTP, args: "/alpha/1", bad: []bad{{"/none", exitcode.Failure, "no such key"}}},
	{command: "key set", way: byHTTP, args: "/new 5", bad: []bad{{"'' x", exitcode.WrongUsage, "a name is empty"}}},
	{command: "key delete", way: byHTTP, args: "/gone --yes", before: "key set /gone 5", bad: []bad{{"/none --yes", exitcode.Failure, "no such key"}, {"/alpha/1", exitcode.WrongUsage, "it needs --yes"}}},
}

var messageRows = []row{
	{command: "message list", way: byHTTP, args: "alpha", filters: []filter{{"alpha --limit 1", "one", "two"}, {"alpha --state ready", "one two", ""}, {"alpha --state scheduled", "", "one two"}},
		bad: []bad{{"none", exitcode.Failure, "fiveways queue list"}, {"alpha --state none", exitcode.WrongUsage, "state"}, {"alpha --limit -1", exitcode.WrongUsage, "limit"}}},
	{command: "message show", way: byHTTP, args: "alpha {message}", bad: []bad{{"alpha 9-9", exitcode.Failure, "no such message"}, {"alpha none", exitcode.WrongUsage, "message"}}},
	{command: "message publish", way: byHTTP, args: "new hello", before: "queue add new", bad: []bad{
		{"none x", exitcode.Failure, "no queue 'none' in vhost '/'"}, {"--exchange beta x", exitcode.Failure, "unroutable"}, {"x", exitcode.WrongUsage, "--exchange"}, {"alpha x --properties 5", exitcode.WrongUsage, "JSON object"}, {"alpha x --header n", exitcode.WrongUsage, "NAME=VALUE"},
		{"--exchange none x", exitcode.Failure, "no exchange 'none'"}}},
	{command: "message get", way: byHTTP, args: "seen", before: "queue add seen; message publish seen x", filters: []filter{{"alpha --count 1", "one", "two"}},
		bad: []bad{{"none", exitcode.Failure, "fiveways queue list"}, {"alpha --count 0", exitcode.WrongUsage, "count"}}},
	{command: "message move", way: byHTTP, args: "moved dead", before: "queue add moved; queue add dead", proved: "filter:TestMoveFilters limit:TestMoveFilters rate:TestRequests",
		bad: []bad{{"alpha none", exitcode.Failure, "queue 'none'"}, {"none alpha", exitcode.Failure, "queue"}, {"alpha beta --limit -1", exitcode.WrongUsage, "limit"}}},
	{command: "message delete", way: byHTTP, args: "seen {seen} --yes", bad: []bad{{"alpha 9-9 --yes", exitcode.Failure, "no such message"}, {"alpha 9-9", exitcode.WrongUsage, "it needs --yes"}}},
	{command: "message scheduled", way: byHTTP, args: "--exchange later", filters: []filter{{"--exchange later", "first second", ""}, {"--exchange later --limit 1", "first", "second"}, {"--queue alpha", "", "first second"}},
		bad: []bad{{"", exitcode.WrongUsage, "--exchange"}, {"--queue none", exitcode.Failure, "fiveways queue list"}, {"--exchange none", exitcode.Failure, "fiveways exchange list"}, {"--exchange later --limit -1", exitcode.WrongUsage, "limit"}}},
	{command: "message cancel", way: byHTTP, args: "gone --exchange later", before: `message publish --exchange later x --header x-delay=86400000 --properties {"message_id":"gone"}`,
		proved: "queue:TestMessagesOfABroker exchange:TestMessagesOfABroker", bad: []bad{{"none --exchange later", exitcode.Failure, "no message with that id"}, {"first", exitcode.WrongUsage, "--exchange"}}},
	{command: "message reschedule", way: byHTTP, args: "first +24h --exchange later", proved: "queue:TestMessagesOfABroker exchange:TestMessagesOfABroker",
		bad: []bad{{"none +1h --exchange later", exitcode.Failure, "no message with that id"}, {"first tomorrow --exchange later", exitcode.WrongUsage, "is not a time"}}},
}

var accessRows = []row{
	{command: "user list", way: byHTTP},
	{command: "user add", way: byHTTP, args: "new --password-stdin", before: "user delete new --yes", stdin: "secret\n", bad: []bad{{"alice --password-stdin", exitcode.Failure, "fiveways user password"}}},
	{command: "user password", way: byHTTP, args: "new --password-stdin", stdin: "other\n", bad: []bad{{"none --password-stdin", exitcode.Failure, "no user 'none'; `fiveways user list`"}}},
	{command: "user tags", way: byHTTP, args: "alice management", bad: []bad{{"none management", exitcode.Failure, "no such user"}}},
	{command: "user limit", way: byHTTP, args: "alice max-channels 10", bad: []bad{{"alice max-dreams 1", exitcode.WrongUsage, "max-dreams"}, {"alice max-channels many", exitcode.WrongUsage, "a number or none"}, {"none max-channels 1", exitcode.Failure, "no such user"}}},
	{command: "user from", way: byHTTP, args: "alice anywhere", bad: []bad{{"alice home", exitcode.WrongUsage, "loopback"}, {"none anywhere", exitcode.Failure, "no such user"}}},
	{command: "user delete", way: byHTTP, args: "gone --yes", before: "user add gone --password-stdin", stdin: "x\n", bad: []bad{{"none --yes", exitcode.Failure, "no such user"}, {"alice", exitcode.WrongUsage, "it needs --yes"}}},
	{command: "vhost list", way: byHTTP},
	{command: "vhost add", way: byHTTP, args: "new --description x"},
	{command: "vhost limit", way: byHTTP, args: "staging max-queues 1000", bad: []bad{{"none max-queues 1", exitcode.Failure, "fiveways vhost list"}, {"staging max-dreams 1", exitcode.WrongUsage, "max-dreams"}, {"staging max-queues x", exitcode.WrongUsage, "a number or none"}}},
	{command: "vhost trace", way: byHTTP, args: "staging on", bad: []bad{{"none on", exitcode.Failure, "fiveways vhost list"}, {"staging maybe", exitcode.WrongUsage, "on or off"}}},
	{command: "vhost delete", way: byHTTP, args: "gone --yes", before: "vhost add gone", bad: []bad{{"none --yes", exitcode.Failure, "no such virtual host"}, {"staging", exitcode.WrongUsage, "it needs --yes"}}},
	{command: "permission list", way: byHTTP, filters: []filter{{"--user alice", "alice", "guest"}, {"--vhost staging", "alice", "/"}}},
	{command: "permission set", way: byHTTP, args: "alice .* .* .*", bad: []bad{{"alice ( . .", exitcode.WrongUsage, "invalid pattern"}, {"none . . .", exitcode.Failure, "no such user"}, {"alice . . . --vhost none", exitcode.Failure, "fiveways vhost list"}}},
	{command: "permission clear", way: byHTTP, args: "alice --vhost new", before: "vhost add new; permission set alice . . . --vhost new", bad: []bad{{"none", exitcode.Failure, "no permission of 'none'"}}},
	{command: "permission topic", way: byHTTP, args: "alice amq.topic a b", bad: []bad{{"alice amq.topic ( b", exitcode.WrongUsage, "invalid pattern"}, {"none amq.topic a b", exitcode.Failure, "no such user"}}},
	{command: "permission clear-topic", way: byHTTP, args: "alice amq.direct", before: "permission topic alice amq.direct a b", bad: []bad{{"none", exitcode.Failure, "no topic permission of 'none'"}}},
}

// jobURL names a broker for the commands about jobs.
const jobURL = "--url redis://{redis}"

var jobRows = []row{
	{command: "job enqueue", way: byRedis, url: jobURL, args: "new hello", bad: []bad{{"mail x --id one", exitcode.Failure, "--update"}, {"mail x --priority 256", exitcode.WrongUsage, "--priority"}, {"mail x --lock 5", exitcode.WrongUsage, "--lock takes a duration"}}},
	{command: "job take", way: byRedis, url: jobURL, args: "taken", before: "job enqueue taken x", filters: []filter{{"ten --count 1", "one", "two"}}, bad: []bad{{"mail --count 0", exitcode.WrongUsage, "--count"}}},
	{command: "job done", way: byRedis, url: jobURL, alone: "its token is that of a job taken: TestJob", args: "mail one 1-1"},
	{command: "job retry", way: byRedis, url: jobURL, alone: "as done", args: "mail one 1-1"},
	{command: "job fail", way: byRedis, url: jobURL, alone: "as done", args: "mail one 1-1"},
	{command: "job extend", way: byRedis, url: jobURL, alone: "as done", args: "mail one 1-1"},
	{command: "job status", way: byRedis, url: jobURL, args: "mail one", bad: []bad{{"mail none", exitcode.Failure, "no such job"}}},
	{command: "job list", way: byRedis, url: jobURL, args: "mail", filters: []filter{{"mail", "one two", "three"}, {"mail --limit 1", "one", "two"}, {"", "mail post", ""}}, bad: []bad{{"--limit 0", exitcode.WrongUsage, "--limit"}}},
	{command: "job cancel", way: byRedis, url: jobURL, args: "mail gone", before: "job enqueue mail x --id gone", bad: []bad{{"mail none", exitcode.Failure, "no such job"}}},
	{command: "job clear", way: byRedis, url: jobURL, args: "gone --yes", before: "job enqueue gone x", bad: []bad{{"mail", exitcode.WrongUsage, "it needs --yes"}}},
}

var semaphoreRows = []row{
	{command: "semaphore list", way: byHTTP, filters: []filter{{"--contains alp", "alpha", "beta"}, {"--limit 1", "alpha", "beta"}, {"--vhost staging", "gamma", "alpha"}},
		bad: []bad{{"--vhost none", exitcode.Failure, "no such virtual host"}, {"--limit -1", exitcode.WrongUsage, "limit"}}},
	{command: "semaphore show", way: byHTTP, args: "alpha", bad: []bad{{"none", exitcode.Failure, "fiveways semaphore list"}}},
	{command: "semaphore set", way: byHTTP, args: "new --active 5", bad: []bad{{"alpha --order up", exitcode.WrongUsage, "order"}, {"alpha --active -1", exitcode.WrongUsage, "active"}}},
	{command: "semaphore delete", way: byHTTP, args: "gone --yes", before: "semaphore set gone", bad: []bad{{"alpha --if-empty --yes", exitcode.Failure, "has tasks"}, {"none --yes", exitcode.Failure, "fiveways semaphore list"}, {"alpha", exitcode.WrongUsage, "it needs --yes"}}},
	{command: "semaphore tasks", way: byHTTP, args: "alpha", filters: []filter{{"alpha --from 2 --limit 1", "WAIT 2", "ACQUIRED"}, {"alpha --status WAIT", "WAIT", "ACQUIRED"}},
		bad: []bad{{"none", exitcode.Failure, "fiveways semaphore list"}, {"alpha --status none", exitcode.WrongUsage, "status"}, {"alpha --from 0", exitcode.WrongUsage, "from"}}},
	{command: "semaphore enqueue", way: byHTTP, args: "beta 42 5", bad: []bad{{"beta 1", exitcode.WrongUsage, "KEY"}, {"beta 1 high", exitcode.WrongUsage, "a priority is a number"}, {"none 1 5", exitcode.Failure, "fiveways semaphore list"}}},
	{command: "semaphore release", way: byHTTP, args: "beta 42", bad: []bad{{"none 1", exitcode.Failure, "fiveways semaphore list"}}},
	{command: "semaphore renew", way: byHTTP, args: "beta 42", bad: []bad{{"none 1", exitcode.Failure, "fiveways semaphore list"}}},
	{command: "semaphore watch", way: byHTTP, alone: "it does not end: TestSemaphoreWatch", proved: "task:TestSemaphoreWatch prefix:TestSemaphoreWatch"},
	{command: "semaphore install", way: elsewhere, args: "--print", bad: []bad{{"nonsense", exitcode.WrongUsage, "postgres://"}}},
}

var serverRows = []row{
	{command: "serve", alone: "it is the broker", bad: []bad{{"--amqp 5672", exitcode.WrongUsage, "host:port"}, {"--memory-limit much", exitcode.WrongUsage, "memory-limit"}, {"--config none.toml", exitcode.WrongUsage, "none.toml"}}},
	{command: "config", bad: []bad{{"--shards x", exitcode.WrongUsage, "whole number"}, {"--config none.toml", exitcode.WrongUsage, "none.toml"}}},
	{command: "demo", alone: "it starts a broker of its own: TestDemoSucceeds"},
	{command: "version"},
	{command: "help", args: "queue list", bad: []bad{{"quue", exitcode.WrongUsage, "unknown command"}, {"queue lst", exitcode.WrongUsage, "did you mean list?"}}},
	{command: "completion bash"}, {command: "completion zsh"}, {command: "completion fish"}, {command: "completion powershell"},
	{command: "doctor", args: "rest", bad: []bad{{"none", exitcode.Failure, "none"}, {".", exitcode.WrongUsage, "fiveways serve"}}},
	{command: "tls self-signed", args: "--out new", bad: []bad{{"--days 0", exitcode.WrongUsage, "--days"}, {"--client ../x", exitcode.WrongUsage, "--client"}}},
	{command: "cluster init", args: "--data first --address 127.0.0.1:5680", bad: []bad{{"", exitcode.WrongUsage, "--address"}, {"--address :5680", exitcode.WrongUsage, "host and port"}}},
	{command: "cluster token", alone: "it needs a cluster: test/cluster", bad: []bad{
		{"", exitcode.Failure, "no node of a cluster runs"}, {"--count 0", exitcode.WrongUsage, "at least 1"}, {"--count -1", exitcode.WrongUsage, "at least 1"}}},
	{command: "cluster status", alone: "it needs a cluster: test/cluster", bad: []bad{{"", exitcode.Failure, "no node of a cluster runs"}}},
	{command: "cluster transfer", alone: "it needs a cluster: test/cluster", bad: []bad{{"2", exitcode.Failure, "no node of a cluster runs"}}},
	{command: "cluster remove", alone: "it needs a cluster: test/cluster", bad: []bad{{"2", exitcode.Failure, "no node of a cluster runs"}}},
	{command: "cluster recover", alone: "it needs a cluster: test/cluster", bad: []bad{
		{"--data rest", exitcode.WrongUsage, "fiveways cluster init"}, {"--data none", exitcode.Failure, "none"}, {"--address :5680", exitcode.WrongUsage, "host and port"}}},
	{command: "backup", way: byHTTP, args: "new.tar", bad: []bad{{"words", exitcode.Failure, "Choose another name"}}},
	{command: "restore", args: "made.tar restored", before: "backup made.tar", bad: []bad{
		{"none new", exitcode.Failure, "none"}, {"words new", exitcode.Failure, "an archive that `fiveways backup` has written"}, {"words rest", exitcode.WrongUsage, "another folder"}}},
	{command: "sql install", way: elsewhere, alone: "it needs a PostgreSQL: TestSQLInstall", bad: []bad{{"nonsense", exitcode.WrongUsage, "postgres://"}, {"postgres://127.0.0.1:1/x", exitcode.Failure, "Does psql connect"}}},
	{command: "sql print"},
	{command: "shovel", way: byAMQP, url: "--from amqp://{amqp} --to amqp://{amqp}", args: "--from-queue alpha --to-queue new --once --quiet", proved: "limit:TestShovel rate:TestShovel",
		bad: []bad{{"--from-queue q", exitcode.WrongUsage, "--to-queue"}, {"--from http://x --from-queue q --to-queue r", exitcode.WrongUsage, "amqp://"}, {"--from amqp://u:p@x --from-queue q --to-queue r", exitcode.WrongUsage, "no password"}}},
	{command: "migrate carmine", way: byRedis, url: "--to redis://{redis}", args: "redis://{source} q", alone: "it needs a Redis with jobs: test/jobs", bad: []bad{{"http://x q", exitcode.WrongUsage, "redis"}}},
	{command: "migrate rabbitmq", way: byHTTP, args: "--definitions words --from amqp://{source}", alone: "it needs a RabbitMQ: test/migrate", proved: "vhost:test/migrate queues:test/migrate",
		bad: []bad{{"", exitcode.WrongUsage, "--management"}, {"--definitions list", exitcode.WrongUsage, "--from"}, {"--definitions list --only-definitions --queues (", exitcode.WrongUsage, "--queues"}}},
	{command: "bench amqp", way: byAMQP, url: "--url amqp://guest:guest@{amqp}", args: "--duration 20ms", bad: []bad{{"--size -1", exitcode.WrongUsage, "size is -1"}, {"--url x", exitcode.WrongUsage, "amqp://"}}},
	{command: "bench sql", way: bySQL, url: "postgres://guest:guest@{sql}/fiveways", args: "--load post --duration 20ms", bad: []bad{{"--load drink", exitcode.WrongUsage, "drink"}}},
	{command: "bench jobs", way: byRedis, url: "redis://{redis}", args: "--load enqueue --connections 1 --depth 1 --repetitions 1 --duration 20ms", bad: []bad{{"--load drink", exitcode.WrongUsage, "drink"}, {"x", exitcode.WrongUsage, "redis://"}}},
	{command: "bench etcd", way: byEtcd, url: "{etcd}", args: "--load put --producers 1 --keys 10 --duration 20ms", bad: []bad{{"--load drink", exitcode.WrongUsage, "drink"}}},
	{command: "bench semaphore", way: byRedis, url: "redis://{redis}", args: "--load changes --active 2 --waiting 10 --clients 1 --duration 20ms", bad: []bad{{"--load drink", exitcode.WrongUsage, "drink"}, {"ftp://x", exitcode.WrongUsage, "redis://"}}},
}

// everyCommand returns all commands that have an action, by their words.
func everyCommand() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		if !cmd.HasSubCommands() || path == "shovel" {
			all[path] = cmd
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(commands(io.Discard, io.Discard))
	return all
}

// TestEveryCommandHasARow checks that each command, also a new one, has a row, which the other
// tests of the table need.
func TestEveryCommandHasARow(t *testing.T) {
	all := everyCommand()
	seen := map[string]bool{}
	for _, r := range rows {
		if all[r.command] == nil || seen[r.command] {
			t.Errorf("the row of %q is of no command, or not the only one", r.command)
		}
		seen[r.command] = true
	}
	for command := range all {
		if !seen[command] {
			t.Errorf("%s has no row in the table of commands", command)
		}
	}
}

// wordsIn splits a line at blanks. Text in single quotes is one word.
func wordsIn(line string) (words []string) {
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		var word string
		if rest, quoted := strings.CutPrefix(line, "'"); quoted {
			word, line, _ = strings.Cut(rest, "'")
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		words = append(words, word)
	}
	return words
}
