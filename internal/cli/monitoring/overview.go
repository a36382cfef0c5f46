package monitoring

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"

	"github.com/spf13/cobra"
)

// OverviewCommand returns `fiveways overview`.
func OverviewCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "overview", Short: "show whether the broker is well, and its messages, rates, memory and disk", Args: cobra.NoArgs,
		Long: `Shows in about ten lines whether the broker is well. "Attention" is what an operator should look at, the most urgent first: alarms, queues that grow,
that have messages and no consumer, dead letters, blocked connections, failed logins. With -o json it prints all figures and all matters of the API.`,
		Example: "  fiveways overview\n  fiveways overview --watch\n  fiveways overview -o json",
	}
	watch := display.WatchFlag(cmd)
	display.Flag(cmd, &output)
	return brokerapi.RunningCommand(cmd, func(cmd *cobra.Command, op *brokerapi.Client, _ []string) error {
		return watch(cmd, func() error {
			var o display.Object
			if err := op.Read(cmd.Context(), brokerapi.Path("overview"), &o); err != nil {
				return err
			}
			if output == display.FormJSON {
				found, err := matters(cmd, op)
				if err != nil {
					return err
				}
				o["attention"] = found
				return display.PrintJSON(cmd.OutOrStdout(), o)
			}
			return summary{cmd, op, o}.print(cmd.OutOrStdout())
		})
	})
}

// summary is the content of `fiveways overview` for people.
type summary struct {
	cmd      *cobra.Command
	op       *brokerapi.Client
	overview display.Object
}

func (s summary) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, strings.Map(display.Shown, fmt.Sprintf(format, args...)))
	}
	line("State", "%s", s.state())
	s.attention(line)
	line("Messages", "%s ready, %s unacked", s.amount("queue_totals.messages_ready"), s.amount("queue_totals.messages_unacknowledged"))
	line("Rates", "%s in, %s out, %s acknowledged", s.amount("message_stats.publish_details.rate"), s.amount("message_stats.deliver_get_details.rate"), s.amount("message_stats.ack_details.rate"))
	line("Objects", "%s, %s, %s, %s, %s", s.objects("queues"), s.objects("exchanges"), s.objects("connections"), s.objects("channels"), s.objects("consumers"))
	s.nodes(line)
	text := func(member string) string { return display.Cell(s.overview[member]) }
	line("Version", "%s %s, for clients RabbitMQ %s", text("product_name"), cmp.Or(text("fiveways_version"), text("product_version")), text("rabbitmq_version"))
	return w.Flush()
}

// amount returns a number of the overview, or 0 if it is missing because nothing has happened yet.
func (s summary) amount(path string) string {
	number := display.Member(s.overview, path)
	if number == nil {
		number = json.Number("0")
	}
	return display.Amount(path, number)
}

// objects formats the number of objects of a kind.
func (s summary) objects(kind string) string {
	n := s.amount("object_totals." + kind)
	if n == "1" {
		kind = strings.TrimSuffix(kind, "s")
	}
	return n + " " + kind
}

// state returns the result of the health checks.
func (s summary) state() string {
	for _, check := range healthChecks {
		if err := s.op.Do(s.cmd.Context(), http.MethodGet, brokerapi.Path("health", "checks", check), nil, nil); err != nil {
			return "NOT WELL: " + display.OneLine(err.Error())
		}
	}
	return "well: no alarms, all virtual hosts run"
}

// mostMatters limits the matters that the overview shows, so that it stays at about ten lines.
const mostMatters = 3

// attention prints a line for each of the most urgent matters that the broker has found.
func (s summary) attention(line func(name, format string, args ...any)) {
	matters, err := matters(s.cmd, s.op)
	switch {
	case err != nil:
		line("Attention", "unknown: %s", display.OneLine(err.Error()))
	case len(matters) == 0:
		line("Attention", "nothing needs any")
	}
	for _, m := range matters[:min(len(matters), mostMatters)] {
		text := display.Cell(m["text"])
		if m["name"] != nil {
			text = named(m) + ": " + text
		}
		if m["severity"] == "critical" {
			text = "CRITICAL: " + text
		}
		line("Attention", "%s", text)
	}
	if rest := len(matters) - mostMatters; rest > 0 {
		line("Attention", "and %d more; -o json has all", rest)
	}
}

// named returns the name of what a matter is about, with its virtual host unless that is "/".
func named(m display.Object) string {
	name := display.Cell(m["name"])
	if vhost := display.Cell(m["vhost"]); vhost != "" && vhost != "/" {
		name += " in " + vhost
	}
	return name
}

// matters returns what needs an operator's attention, the most urgent first.
func matters(cmd *cobra.Command, op *brokerapi.Client) ([]display.Object, error) {
	var found struct {
		Matters []display.Object `json:"matters"`
	}
	err := op.Read(cmd.Context(), brokerapi.Path("attention"), &found)
	return found.Matters, err
}

// nodes prints a line for each node, if the user may see them.
func (s summary) nodes(line func(name, format string, args ...any)) {
	var nodes []display.Object
	if err := s.op.Read(s.cmd.Context(), brokerapi.Path("nodes"), &nodes); err != nil {
		line("Node", "not shown: %s", display.OneLine(err.Error()))
		return
	}
	for _, n := range nodes {
		amount := func(member string) string { return display.Amount(member, n[member]) }
		if n["running"] == false {
			line("Node", "%s DOES NOT RUN", amount("name"))
			continue
		}
		line("Node", "%s, up %s, memory %s of %s%s, disk %s free (alarm below %s)%s", amount("name"), amount("uptime"), amount("mem_used"), amount("mem_limit"), alarm(n["mem_alarm"]),
			amount("disk_free"), amount("disk_free_limit"), alarm(n["disk_free_alarm"]))
	}
}

// alarm marks a figure that causes publishers to be blocked.
func alarm(on any) string {
	if on == true {
		return " ALARM"
	}
	return ""
}
