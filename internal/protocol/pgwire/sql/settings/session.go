package settings

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

const cannotChangeNow = "55P02"

// Session are the settings of a session. They are transactional: a rollback undoes SET, and the end
// of the transaction undoes SET LOCAL.
type Session struct {
	defaults map[string]string // by lower-case name: the values that RESET restores, if they differ from list
	now      Snapshot
	names    value.Names // for values

	values  value.Settings // of now
	timeout time.Duration  // statement_timeout
	modes   Modes
	epoch   uint64
}

// Snapshot are the values set for the session, and those set until the end of the transaction.
type Snapshot struct{ session, local map[string]string }

// Modes are the characteristics of a transaction.
type Modes struct {
	Level      string // as shown by transaction_isolation
	ReadOnly   bool
	Deferrable bool
}

// New returns the settings of a new session. names resolves the names of objects in values.
// defaults are values, by lower-case name, that RESET restores.
func New(names value.Names, defaults map[string]string) Session {
	s := Session{names: names, defaults: defaults}
	s.refresh()
	return s
}

// Get returns the value of a setting in the format of SHOW. A setting with a dot in its name exists
// once it has been set.
func (v *Session) Get(name string) (string, bool) {
	key := strings.ToLower(name)
	if s, ok := v.now.local[key]; ok {
		return s, true
	}
	if s, ok := v.now.session[key]; ok {
		return s, true
	}
	return v.initial(key)
}

// Value returns the value of a setting that exists.
func (v *Session) Value(name string) string { s, _ := v.Get(name); return s }

// Unrecognised returns the error for a setting that does not exist.
func Unrecognised(name string) error {
	return pgerror.New(pgerror.UndefinedObject, `unrecognized configuration parameter "%s"`, name)
}

// check normalizes a value. It rejects unknown names and read-only settings.
func (v *Session) check(name, val string) (string, error) {
	d := Lookup(name)
	switch {
	case d == nil && !strings.Contains(name, "."):
		return "", Unrecognised(name)
	case d == nil:
		return val, nil
	case d.internal:
		return "", pgerror.New(cannotChangeNow, `parameter "%s" cannot be changed`, d.Name)
	case d.fixed:
		return "", pgerror.New(cannotChangeNow, `parameter "%s" cannot be changed without restarting the server`, d.Name)
	case d.Name == "DateStyle":
		return mergeDateStyle(val, v.Value(name))
	}
	return d.Canonical(val)
}

// Set runs SET, or SET LOCAL. Errors: 42704 for an unknown setting, 22023 for an invalid value,
// 55P02 for a read-only setting.
func (v *Session) Set(name, val string, local bool) error {
	val, err := v.check(name, val)
	if err != nil {
		return err
	}
	v.put(name, val, local)
	return nil
}

// put sets a checked value.
func (v *Session) put(name, val string, local bool) {
	key := strings.ToLower(name)
	if _, ok := v.defaults[key]; !ok && byName[key] == nil {
		v.defaults[key] = "" // a custom setting exists forever once it has been set, even after a rollback
	}
	if local {
		v.now.local = with(v.now.local, key, val)
	} else {
		v.now.session, v.now.local = with(v.now.session, key, val), without(v.now.local, key)
	}
	v.refresh()
}

// Reset runs RESET, or SET LOCAL TO DEFAULT. Like Set, it creates a setting with a dot in its name.
func (v *Session) Reset(name string, local bool) error {
	key := strings.ToLower(name)
	d := byName[key]
	if d == nil && !strings.Contains(name, ".") || d != nil && (d.internal || d.fixed) {
		_, err := v.check(name, "")
		return err
	}
	initial, _ := v.initial(key)
	v.put(name, initial, local)
	if !local {
		v.now.session = without(v.now.session, key) // SetDefault may change the initial value
	}
	return nil
}

// ResetAll runs RESET ALL.
func (v *Session) ResetAll() {
	v.now = Snapshot{}
	v.refresh()
}

// initial returns the value that RESET restores.
func (v *Session) initial(key string) (string, bool) {
	if s, ok := v.defaults[key]; ok {
		return s, true
	}
	if d := byName[key]; d != nil {
		return d.initial, true
	}
	return "", false
}

// SetDefault sets the value that RESET restores.
func (v *Session) SetDefault(name, val string) error {
	val, err := v.check(name, val)
	if err != nil {
		return err
	}
	v.defaults[strings.ToLower(name)] = val
	v.refresh()
	return nil
}

// Restore restores a snapshot.
func (v *Session) Restore(old Snapshot) {
	if maps.Equal(v.now.session, old.session) && maps.Equal(v.now.local, old.local) {
		return
	}
	v.now = old
	v.refresh()
}

// EndLocal undoes SET LOCAL.
func (v *Session) EndLocal() {
	if len(v.now.local) > 0 {
		v.now.local = nil
		v.refresh()
	}
}

func with(m map[string]string, key, val string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = val
	return m
}

func without(m map[string]string, key string) map[string]string {
	if _, ok := m[key]; !ok {
		return m
	}
	m = maps.Clone(m)
	delete(m, key)
	return m
}

// refresh updates the fields derived from the settings.
func (v *Session) refresh() {
	v.epoch++
	s := value.Defaults()
	if loc, name, ok := zone(v.Value("TimeZone")); ok {
		s.Zone, s.ZoneName = loc, name
	}
	format, order, _ := strings.Cut(v.Value("DateStyle"), ", ")
	s.DateStyle = temporal.DateStyle{Format: format, Order: order}
	s.IntervalStyle = temporal.IntervalStyle(v.Value("IntervalStyle"))
	s.ExtraFloat, _ = strconv.Atoi(v.Value("extra_float_digits"))
	s.ByteaEscape = v.Value("bytea_output") == "escape"
	s.Names = v.names
	v.values, v.timeout = s, v.Duration("statement_timeout")
	v.modes = Modes{
		Level: v.Value("default_transaction_isolation"), ReadOnly: v.Value("default_transaction_read_only") == "on",
		Deferrable: v.Value("default_transaction_deferrable") == "on",
	}
}

// Values returns the settings that affect the text of values.
func (v *Session) Values() value.Settings { return v.values }

// Timeout returns statement_timeout; 0: none.
func (v *Session) Timeout() time.Duration { return v.timeout }

// Modes returns the characteristics of a transaction that begins now.
func (v *Session) Modes() Modes { return v.modes }

// Epoch returns a number that increases with every change, which may invalidate plans.
func (v *Session) Epoch() uint64 { return v.epoch }

// Snapshot returns the current values, for Restore.
func (v *Session) Snapshot() Snapshot { return v.now }

// Duration returns a parameter in milliseconds as a duration.
func (v *Session) Duration(name string) time.Duration {
	n, _ := byName[name].parseInteger(v.Value(name)) // what is stored is valid
	return time.Duration(n) * time.Millisecond
}

// Names returns the names of all settings, in the order of SHOW ALL.
func (v *Session) Names() []string {
	var all []string
	for _, d := range list {
		all = append(all, d.Name)
	}
	for _, m := range []map[string]string{v.now.session, v.now.local, v.defaults} {
		for name := range m {
			if byName[name] == nil {
				all = append(all, name)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return slices.Compact(all)
}

// Path returns the names in the search path, with "$user" replaced.
func (v *Session) Path(user string) []string {
	var names []string
	for _, name := range splitNames(v.Value("search_path")) {
		if name == "$user" {
			name = user
		}
		names = append(names, name)
	}
	return names
}
