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
	// EnvPassword is the variable with the password for commands that log in to a broker. It is no
	// setting.
	EnvPassword = envPrefix + "PASSWORD"
	// EnvSourcePassword is the same for the broker that a command takes messages from.
	EnvSourcePassword = envPrefix + "SOURCE_PASSWORD"
	// EnvDefaultPass is the variable with the password of default_user. It is no setting, because
	// settings are shown and can be flags, which every user of the machine can read.
	EnvDefaultPass = envPrefix + "DEFAULT_PASS"
)

// Sources are the layers over the defaults, weakest first. Empty ones are skipped.
type Sources struct {
	File  string            // path of the TOML file; when empty, EnvFile in Env is asked
	Env   []string          // as os.Environ gives it
	Flags map[string]string // by key, only those the user gave
}

// Origins tells for every key where its value came from, in words: "default", "fiveways.toml:12",
// "FIVEWAYS_AMQP", "--amqp".
type Origins map[string]string

// Load builds the configuration from s. The error names every key that is wrong, where it stands
// and what it may be; it wraps ErrInvalid.
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

// set gives one option its value; origin is where the user wrote it.
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
