package suites

// account is a user that a suite logs in as, with its permissions (configure, write, read) on a
// virtual host. Both are created if missing.
type account struct {
	user, password string
	vhost          string
	permissions    [3]string
	queueType      string // default type of the virtual host's queues, which only RabbitMQ has; empty: classic
}

// everything grants all permissions.
var everything = [3]string{".*", ".*", ".*"}

// open creates the accounts with rabbitmqctl commands.
func (s server) open(accounts []account) error {
	known := map[string]bool{"user guest": true, "vhost /": true}
	for _, a := range accounts {
		if !known["vhost "+a.vhost] {
			known["vhost "+a.vhost] = true
			add := []string{"add_vhost", a.vhost}
			if a.queueType != "" {
				add = append(add, "--default-queue-type", a.queueType)
			}
			if _, err := s.ctl(add...); err != nil {
				return err
			}
		}
		if !known["user "+a.user] {
			known["user "+a.user] = true
			if _, err := s.ctl("add_user", a.user, a.password); err != nil {
				return err
			}
		}
		if _, err := s.ctl("set_permissions", "-p", a.vhost, a.user, a.permissions[0], a.permissions[1], a.permissions[2]); err != nil {
			return err
		}
	}
	return nil
}
