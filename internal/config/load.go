package config

import (
	"errors"
	"fmt"
	"strings"
)

const (
	envPrefix = "FIVEWAYS_"
	// EnvFile is the variable that names the TOML file, as --config does.
	EnvFile = envPrefix + "CONFIG"
	// EnvPassword is the variable with the password for commands that log in to a broker. It is not
	// a setting.
	EnvPassword = envPrefix + "PASSWORD"
	// EnvSourcePassword is the variable with the password for the source broker of a command.
	EnvSourcePassword = envPrefix + "SOURCE_PASSWORD"
	// EnvDefaultPass is the variable with the password of default_user. It is not a setting,
	// because settings are displayed and can be flags, which every user of the machine can read.
	EnvDefaultPass = envPrefix + "DEFAULT_PASS"
)

// Sources are the layers above the defaults, lowest precedence first. Empty ones are skipped.
type Sources struct {
	File  string            // path of the TOML file; if empty, EnvFile in Env is used
	Env   []string          // in the form of os.Environ
	Flags map[string]string // by key; only those that the user has set
}

// Origins maps every key to the origin of its value: "default", "fiveways.toml:12",
// "FIVEWAYS_AMQP", "--amqp".
type Origins map[string]string

// Load builds the configuration from s. The error names every invalid key, its position and its
// allowed values; it wraps ErrInvalid.
func Load(s Sources) (Config, Origins, error) {
	l := loader{config: Default(), origins: Origins{}}
	for _, o := range options {
		l.origins[o.Key] = "default"
	}
	file := s.File
	for _, kv := range s.Env {
		if path, ok := strings.CutPrefix(kv, EnvFile+"="); ok && file == "" {
			file = path
		}
	}
	if file != "" {
		l.file(file)
	}
	l.env(s.Env)
	for key, value := range s.Flags {
		l.set(key, value, "--"+strings.ReplaceAll(key, "_", "-"))
	}
	l.config.MetricsOptional = l.origins["metrics"] == "default"
	if len(l.errs) == 0 {
		if err := l.config.Validate(); err != nil {
			l.errs = append(l.errs, err)
		}
	}
	return l.config, l.origins, errors.Join(l.errs...)
}

type loader struct {
	config  Config
	origins Origins
	errs    []error
}

// set sets one option. origin is where the user has set it.
func (l *loader) set(key, value, origin string) {
	o, ok := lookup(key)
	if !ok {
		l.unknown(origin, key, keys())
		return
	}
	if err := o.Value(&l.config).Set(value); err != nil {
		l.errs = append(l.errs, fmt.Errorf("%w (%s)", invalid(key, err), origin))
		return
	}
	l.origins[key] = origin
}

func (l *loader) env(environ []string) {
	names := []string{EnvFile}
	for _, o := range options {
		names = append(names, o.Env())
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case !strings.HasPrefix(name, envPrefix), name == EnvFile, name == EnvPassword, name == EnvSourcePassword:
			continue
		case name == EnvDefaultPass:
			l.config.DefaultPass = value
			continue
		}
		key := strings.ToLower(strings.TrimPrefix(name, envPrefix))
		if o, ok := lookup(key); !ok || o.Env() != name {
			l.unknown("environment", name, names)
			continue
		}
		l.set(key, value, name)
	}
}

func (l *loader) unknown(origin, name string, known []string) {
	hint := "`fiveways config` lists all of them"
	if near := Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	l.errs = append(l.errs, fmt.Errorf("%w: %s: unknown key %s; %s", ErrInvalid, origin, name, hint))
}

func keys() []string {
	var all []string
	for _, o := range options {
		all = append(all, o.Key)
	}
	return all
}
