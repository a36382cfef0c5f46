package sql

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

const (
	cannotChangeNow = "55P02"
	invalidName     = "42602"
)

// variables are the settings of a session. They are transactional: a rollback undoes SET, and the
// end of the transaction undoes SET LOCAL.
type variables struct {
	defaults map[string]string // by lower-case name: the values that RESET restores, if they differ from settingList
	// Invariant: the maps in values are never modified, so that a copy of values is a snapshot.
	now values

	objects  value.Names    // for settings
	settings value.Settings // of now
	timeout  time.Duration  // statement_timeout
	level    string         // default_transaction_isolation
	readOnly bool           // default_transaction_read_only
	defers   bool           // default_transaction_deferrable
	epoch    uint64         // increases with every change, which may invalidate plans
}

// values are the values set for the session, and those set until the end of the transaction.
type values struct{ session, local map[string]string }

func newVariables() variables {
	v := variables{defaults: map[string]string{}}
	v.refresh()
	return v
}

// get returns the value of a setting in the format of SHOW. A setting with a dot in its name exists
// once it has been set.
func (v *variables) get(name string) (string, bool) {
	key := strings.ToLower(name)
	if s, ok := v.now.local[key]; ok {
		return s, true
	}
	if s, ok := v.now.session[key]; ok {
		return s, true
	}
	if s, ok := v.defaults[key]; ok {
		return s, true
	}
	if d := settingsByName[key]; d != nil {
		return d.initial, true
	}
	return "", false
}

func (v *variables) value(name string) string { s, _ := v.get(name); return s }

func unrecognised(name string) error {
	return pgerror.New(pgerror.UndefinedObject, `unrecognized configuration parameter "%s"`, name)
}

// check normalizes a value. It rejects unknown names and read-only settings.
func (v *variables) check(name, val string) (string, error) {
	d := settingsByName[strings.ToLower(name)]
	switch {
	case d == nil && !strings.Contains(name, "."):
		return "", unrecognised(name)
	case d == nil:
		return val, nil
	case d.internal:
		return "", pgerror.New(cannotChangeNow, `parameter "%s" cannot be changed`, d.name)
	case d.fixed:
		return "", pgerror.New(cannotChangeNow, `parameter "%s" cannot be changed without restarting the server`, d.name)
	case d.name == "DateStyle":
		return mergeDateStyle(val, v.value(name))
	}
	return d.canonical(val)
}

func (v *variables) set(name, val string, local bool) error {
	val, err := v.check(name, val)
	if err != nil {
		return err
	}
	v.put(name, val, local)
	return nil
}

// put sets a checked value.
func (v *variables) put(name, val string, local bool) {
	key := strings.ToLower(name)
	if _, ok := v.defaults[key]; !ok && settingsByName[key] == nil {
		v.defaults[key] = "" // a custom setting exists forever once it has been set, even after a rollback
	}
	if local {
		v.now.local = with(v.now.local, key, val)
	} else {
		v.now.session, v.now.local = with(v.now.session, key, val), without(v.now.local, key)
	}
	v.refresh()
}

func (v *variables) reset(name string) error {
	key := strings.ToLower(name)
	if d := settingsByName[key]; d != nil && (d.internal || d.fixed) {
		_, err := v.check(name, "")
		return err
	}
	if _, ok := v.get(name); !ok {
		return unrecognised(name)
	}
	v.now.session, v.now.local = without(v.now.session, key), without(v.now.local, key)
	v.refresh()
	return nil
}

func (v *variables) resetAll() {
	v.now = values{}
	v.refresh()
}

// resetValue returns the value that RESET restores.
func (v *variables) resetValue(name string) string {
	key := strings.ToLower(name)
	if s, ok := v.defaults[key]; ok {
		return s
	}
	if d := settingsByName[key]; d != nil {
		return d.initial
	}
	return ""
}

// setDefault sets the value that RESET restores. The caller has checked it.
func (v *variables) setDefault(name, val string) {
	v.defaults[strings.ToLower(name)] = val
	v.refresh()
}

// restore restores a snapshot.
func (v *variables) restore(old values) {
	if mapsSame(v.now.session, old.session) && mapsSame(v.now.local, old.local) {
		return
	}
	v.now = old
	v.refresh()
}

// endLocal undoes SET LOCAL.
func (v *variables) endLocal() {
	if len(v.now.local) > 0 {
		v.now.local = nil
		v.refresh()
	}
}

func mapsSame(a, b map[string]string) bool { return len(a) == 0 && len(b) == 0 || maps.Equal(a, b) }

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
func (v *variables) refresh() {
	v.epoch++
	s := value.Defaults()
	if loc, name, ok := zone(v.value("TimeZone")); ok {
		s.Zone, s.ZoneName = loc, name
	}
	format, order, _ := strings.Cut(v.value("DateStyle"), ", ")
	s.DateStyle = value.DateStyle{Format: format, Order: order}
	s.IntervalStyle = value.IntervalStyle(v.value("IntervalStyle"))
	s.ExtraFloat, _ = strconv.Atoi(v.value("extra_float_digits"))
	s.ByteaEscape = v.value("bytea_output") == "escape"
	s.Names = v.objects
	v.settings, v.timeout = s, v.duration("statement_timeout")
	v.level, v.readOnly = v.value("default_transaction_isolation"), v.value("default_transaction_read_only") == "on"
	v.defers = v.value("default_transaction_deferrable") == "on"
}

func (v *variables) duration(name string) time.Duration {
	return settingsByName[name].duration(v.value(name))
}

// names returns the names of all settings, in the order of SHOW ALL.
func (v *variables) names() []string {
	var all []string
	for _, d := range settingList {
		all = append(all, d.name)
	}
	for _, m := range []map[string]string{v.now.session, v.now.local, v.defaults} {
		for name := range m {
			if settingsByName[name] == nil {
				all = append(all, name)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return slices.Compact(all)
}

// path returns the names in the search path, with "$user" replaced.
func (v *variables) path(user string) []string {
	var names []string
	for _, name := range splitNames(v.value("search_path")) {
		if name == "$user" {
			name = user
		}
		names = append(names, name)
	}
	return names
}

// splitNames splits a list of identifiers, quoted or not.
func splitNames(list string) (names []string) {
	for rest := strings.TrimSpace(list); rest != ""; {
		var name string
		if rest[0] == '"' {
			end := 1
			var b strings.Builder
			for ; end < len(rest); end++ {
				if rest[end] == '"' {
					if end+1 < len(rest) && rest[end+1] == '"' {
						end++
					} else {
						break
					}
				}
				b.WriteByte(rest[end])
			}
			name, rest = b.String(), rest[min(end+1, len(rest)):]
		} else {
			end := strings.IndexByte(rest, ',')
			if end < 0 {
				end = len(rest)
			}
			name, rest = strings.ToLower(strings.TrimSpace(rest[:end])), rest[end:]
		}
		if name != "" {
			names = append(names, name)
		}
		rest = strings.TrimLeft(rest, " \t,")
	}
	return names
}

// quoteName quotes an identifier if splitNames and the parser would otherwise read it differently.
func quoteName(name string) string {
	plain := name != ""
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			plain = false
		}
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
