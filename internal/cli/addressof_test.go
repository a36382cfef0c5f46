package cli

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/internal/cli/exitcode"
)

// TestWhichBroker checks that commands that use a protocol find the same broker as other commands
// with the same flags, not one at the default address.
func TestWhichBroker(t *testing.T) {
	serve := func() (data, redis string) {
		data = t.TempDir()
		b, err := fiveways.Start(fiveways.Options{Data: data, AMQP: "off", Redis: "127.0.0.1:0"})
		must(t, err)
		t.Cleanup(func() { b.Stop(context.Background()) }) //nolint:errcheck // no data to keep
		u, err := url.Parse(b.RedisURL())
		must(t, err)
		return data, u.Host
	}
	one, address := serve()
	two, _ := serve()
	nobody := t.TempDir()
	for name, tc := range map[string]struct {
		env, flag, redis, want string // want: the folder of the broker to reach
	}{
		"flag":                   {"", two, address, two},
		"variable":               {two, "", "", two},
		"variable over address":  {two, "", address, two},
		"flag over variable":     {one, two, "", two},
		"only the address":       {"", "", address, one},
		"address, and a folder":  {nobody, "", address, one},
		"nobody is on the flag":  {"", nobody, address, ""},
		"nobody on the variable": {nobody, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for variable, value := range map[string]string{"FIVEWAYS_DATA": tc.env, "FIVEWAYS_REDIS": tc.redis} {
				if value != "" {
					t.Setenv(variable, value)
				}
			}
			args := []string{"job", "enqueue", "q", "body"}
			if tc.flag != "" {
				args = append(args, "--data", tc.flag)
			}
			before := map[string]int{one: jobsOn(t, one), two: jobsOn(t, two)}
			_, errs, code := command(t, args...)
			if (code == exitcode.OK) != (tc.want != "") {
				t.Errorf("exit code %d, %s", code, errs)
			}
			for folder, n := range before {
				want := n
				if folder == tc.want {
					want++
				}
				if got := jobsOn(t, folder); got != want {
					t.Errorf("%d jobs on %s, want %d", got, folder, want)
				}
			}
		})
	}
	if _, errs, code := command(t, "job", "list", "--data", one, "--url", "redis://127.0.0.1:1"); code != exitcode.WrongUsage {
		t.Errorf("two brokers: exit code %d, %s", code, errs)
	}
}

// jobsOn counts the jobs of the broker on a folder.
func jobsOn(t *testing.T, folder string) int {
	t.Helper()
	out, errs, code := command(t, "queue", "list", "--data", folder, "--columns", "messages_ready")
	if code != exitcode.OK {
		t.Fatal(errs)
	}
	words := strings.Fields(out)
	n, err := strconv.Atoi(words[len(words)-1])
	if err != nil { // only the heading: there is no queue
		return 0
	}
	return n
}
