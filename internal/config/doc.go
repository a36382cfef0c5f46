// Package config holds every setting of a Fiveways node: its key, its default, its allowed values,
// and where its value came from.
//
// A setting is read from four layers, each overriding the one before: the default, the TOML file,
// the environment variable FIVEWAYS_ plus the key in capitals, and the command-line flag with
// dashes for underscores. So memory_limit is also FIVEWAYS_MEMORY_LIMIT and --memory-limit. Unknown
// keys and variables are rejected: a typing error in a durability setting must not go unnoticed.
//
// The table in options.go is the only list of the settings; flags, environment, file, help and the
// printed configuration follow from it. A Config is a plain value without locks; this package keeps
// no state.
package config
