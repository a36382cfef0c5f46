package suites

import (
	"fmt"
	"os/exec"
	"strings"
)

// account is a user whom a suite logs in as, with its permissions (configure, write, read) on a virtual host. Both are made where they are missing.
type account struct {
	user, password string
	vhost          string
	permissions    [3]string
	queueType      string // what a queue of the virtual host is unless it says so; RabbitMQ alone has this. Empty: classic
}

// everything permits all.
var everything = [3]string{".*", ".*", ".*"}

// open makes the accounts, in the words that rabbitmqctl has.
func (s server) open(accounts []account) error {
	known := map[string]bool{"user guest": true, "vhost /": true}
	for _, a := range accounts {
		if !known["vhost "+a.vhost] {
			known["vhost "+a.vhost] = true
			add := []string{"add_vhost", a.vhost}
			if a.queueType != "" {
				add = append(add, "--default-queue-type", a.queueType)
			}
			if err := s.ctl(add...); err != nil {
				return err
			}
		}
		if !known["user "+a.user] {
			known["user "+a.user] = true
			if err := s.ctl("add_user", a.user, a.password); err != nil {
				return err
			}
		}
		if err := s.ctl("set_permissions", "-p", a.vhost, a.user, a.permissions[0], a.permissions[1], a.permissions[2]); err != nil {
			return err
		}
	}
	return nil
}

// fivewaysCtl does with the fiveways command, on the broker that runs on the folder data, what open asks of rabbitmqctl.
func fivewaysCtl(binary, data string) func(args ...string) error {
	return func(args ...string) error {
		var stdin string
		switch args[0] {
		case "add_vhost":
			args = []string{"vhost", "add", args[1]}
		case "add_user":
			stdin, args = args[2]+"\n", []string{"user", "add", args[1], "--password-stdin"}
		case "set_permissions":
			args = append([]string{"permission", "set", "--vhost", args[2], "--"}, args[3:]...)
		}
		cmd := exec.Command(binary, append([]string{args[0], args[1], "--data", data}, args[2:]...)...)
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("suites: fiveways %s %s: %w\n%s", args[0], args[1], err, out)
		}
		return nil
	}
}
