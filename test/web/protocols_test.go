package web

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// TestCommandsOfTheProtocols checks that for each protocol the overview has a command to copy, and
// that it works if its program is installed.
func TestCommandsOfTheProtocols(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.sees(`document.querySelectorAll(".way").length === 5`)
	p.do(evaluate(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`))
	for _, c := range []struct{ protocol, program, says string }{
		{"amqp", "python3", "b'hi'"}, {"sql", "psql", "mbus4"}, {"redis", "redis-cli", "welcome-ann"}, {"etcd", "etcdctl", "OK"}, {"http", "curl", `"product_name"`},
	} {
		command := ask[string](p, `[...document.querySelectorAll(".way")].find((w) => w.querySelector("b").innerText === "`+c.protocol+`").querySelector("code").innerText`)
		p.press("Copy the command for " + c.protocol)
		if copied := ask[string](p, `copied`); copied != command {
			t.Errorf("%s: copied is %q, want %q", c.protocol, copied, command)
		}
		t.Run(c.protocol, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil || c.program == "python3" && exec.Command("python3", "-c", "import pika").Run() != nil {
				t.Skipf("no %s here for: %s", c.program, command)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.says) {
				t.Errorf("%s: %v\n%.300s", command, err, out)
			}
		})
	}
}
