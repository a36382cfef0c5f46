package settings

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Canonical returns a value in the format of SHOW.
func (d *Parameter) Canonical(v string) (string, error) {
	switch d.kind {
	case boolKind:
		b, ok := ParseBool(v)
		if !ok {
			return "", pgerror.New(pgerror.InvalidParameterValue, "parameter %q requires a Boolean value", d.Name)
		}
		return OnOff(b), nil
	case enumKind:
		return d.enum(v)
	case intKind:
		return d.integer(v)
	case realKind:
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "", d.invalid(v)
		}
		return v, nil
	}
	if d.check != nil {
		return d.check(v)
	}
	return v, nil
}

func (d *Parameter) invalid(v string) *pgerror.Error { return invalid(d.Name, v) }

func invalid(name, v string) *pgerror.Error {
	return pgerror.New(pgerror.InvalidParameterValue, `invalid value for parameter "%s": "%s"`, name, v)
}

func (d *Parameter) enum(v string) (string, error) {
	for _, known := range d.values {
		if strings.EqualFold(v, known) {
			return known, nil
		}
	}
	if b, ok := ParseBool(v); ok && slices.Contains(d.values, OnOff(b)) {
		return OnOff(b), nil
	}
	return "", d.invalid(v).WithHint("Available values: %s.", strings.Join(d.values, ", "))
}

// OnOff returns a Boolean setting as SHOW prints it.
func OnOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// ParseBool parses a Boolean setting: on, off, and prefixes of true, false, yes and no.
func ParseBool(v string) (b, ok bool) {
	v = strings.ToLower(v)
	switch {
	case v == "":
		return false, false
	case v == "on", v == "1", strings.HasPrefix("true", v), strings.HasPrefix("yes", v):
		return true, true
	case v == "of", v == "off", v == "0", strings.HasPrefix("false", v), strings.HasPrefix("no", v):
		return false, true
	}
	return false, false
}

// unit is a unit of a setting, with its size in base units.
type unit struct {
	name string
	many float64
}

// units maps the base unit of a setting to the accepted units, largest first.
var units = map[string][]unit{
	"ms":  {{"d", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}, {"ms", 1}, {"us", 0.001}},
	"s":   {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 0.001}, {"us", 0.000001}},
	"min": {{"d", 1440}, {"h", 60}, {"min", 1}},
	"kB":  {{"TB", 1 << 30}, {"GB", 1 << 20}, {"MB", 1 << 10}, {"kB", 1}, {"B", 1.0 / 1024}},
}

// integer parses an integer with an optional unit, and returns it in the largest unit in which it
// is an integer.
func (d *Parameter) integer(v string) (string, error) {
	n, err := d.parseInteger(v)
	if err != nil {
		return "", err
	}
	return d.withUnit(n), nil
}

func (d *Parameter) parseInteger(v string) (int64, error) {
	text := strings.TrimSpace(v)
	end := len(text) - len(strings.TrimLeft(text, "+-0123456789.eE"))
	for end > 0 && (text[end-1] == 'e' || text[end-1] == 'E') {
		end--
	}
	f, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0, d.invalid(v)
	}
	if name := strings.TrimSpace(text[end:]); name != "" {
		i := slices.IndexFunc(units[d.unit], func(u unit) bool { return u.name == name })
		if i < 0 {
			return 0, d.badUnit(v)
		}
		f *= units[d.unit][i].many
	}
	f = math.RoundToEven(f)
	if f < float64(d.min) || f > float64(d.max) {
		suffix := ""
		if d.unit != "" {
			suffix = " " + d.unit
		}
		return 0, pgerror.New(pgerror.InvalidParameterValue, `%d%s is outside the valid range for parameter "%s" (%d .. %d)`,
			int64(f), suffix, d.Name, d.min, d.max)
	}
	return int64(f), nil
}

func (d *Parameter) badUnit(v string) error {
	e := d.invalid(v)
	switch d.unit {
	case "":
		return e
	case "kB":
		return e.WithHint(`Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".`)
	}
	return e.WithHint(`Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".`)
}

func (d *Parameter) withUnit(n int64) string {
	if n <= 0 || d.unit == "" {
		return strconv.FormatInt(n, 10)
	}
	for _, u := range units[d.unit] {
		if many := int64(u.many); many > 0 && n%many == 0 {
			return strconv.FormatInt(n/many, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
