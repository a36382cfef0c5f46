package cli

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"

	"github.com/spf13/cobra"
)

// completions are the shells that a script completes commands in, each with how it is loaded.
var completions = map[string]string{
	"bash":       "source <(fiveways completion bash)",
	"zsh":        "source <(fiveways completion zsh)",
	"fish":       "fiveways completion fish | source",
	"powershell": "fiveways completion powershell | Out-String | Invoke-Expression",
}

// addCompletion adds cobra's command for completion, with examples.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, group := range root.Commands() {
		if group.Name() != "completion" {
			continue
		}
		group.Short = "print a script that completes commands in a shell"
		group.Example = "  " + completions["bash"]
		for _, shell := range group.Commands() {
			shell.Short = "print the script for " + shell.Name()
			shell.Example = "  " + completions[shell.Name()]
		}
	}
}

// completionPatience is how long a broker may take to answer while a user waits for completion.
const completionPatience = time.Second

// nameLists are the lists of the API that complete an argument, by its word in the usage of a
// command. NAME depends on the group that the command is in.
var nameLists = map[string]string{
	"QUEUE": "queues", "TO": "queues", "EXCHANGE": "exchanges",
	"user NAME": "users", "vhost NAME": "vhosts", "permission USER": "users", "connection NAME": "connections", "channel NAME": "channels",
	"policy NAME": "policies", "operator-policy NAME": "operator-policies", "shovel NAME": "shovels",
}

// inVHosts are the lists of objects that belong to a virtual host.
var inVHosts = map[string]bool{"queues": true, "exchanges": true, "policies": true, "operator-policies": true, "shovels": true}

// completeNames makes every command below cmd complete its arguments and flags: names of what the
// broker has, and choices such as on|off. A new name is not completed.
func completeNames(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		completeNames(below)
	}
	takes := strings.Fields(cmd.Use)[1:]
	if len(takes) > 0 && cmd.ValidArgsFunction == nil && cmd.Runnable() {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completed(cmd, takes, len(args))
		}
	}
	for flag, list := range map[string]string{"vhost": "vhosts", "user": "users"} {
		if cmd.Flags().Lookup(flag) != nil {
			completeFlag(cmd, flag, func() []string { return namesOf(cmd, list) })
		}
	}
	if columns := cmd.Flags().Lookup("columns"); columns != nil {
		completeFlag(cmd, "sort", func() []string { return display.SplitList(columns.DefValue) })
	}
	if cmd.Flags().Lookup("output") != nil {
		completeFlag(cmd, "output", func() []string { return []string{display.FormTable, display.FormJSON} })
	}
}

func completeFlag(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(fmt.Sprintf("%s --%s: %v", cmd.CommandPath(), flag, err)) // the flag is there, and has no other completion
	}
}

// choice matches an argument that is one of some words: on|off.
var choice = regexp.MustCompile(`^[a-z-]+(\|[a-z-]+)+$`)

// completed are the words that an argument of a command may be, by its place among those that the
// usage has.
func completed(cmd *cobra.Command, takes []string, at int) ([]string, cobra.ShellCompDirective) {
	if at >= len(takes) && strings.HasSuffix(takes[len(takes)-1], "…") {
		at = len(takes) - 1 // it takes several
	}
	if at >= len(takes) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	word := strings.Trim(takes[at], "[]….")
	list, known := nameLists[word]
	if !known {
		list, known = nameLists[cmd.Parent().Name()+" "+word]
	}
	switch {
	case known && (cmd.Name() != "add" || cmd.Parent().Name() == "binding"): // the others add a new name
		return namesOf(cmd, list), cobra.ShellCompDirectiveNoFileComp
	case choice.MatchString(word):
		return strings.Split(word, "|"), cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(word, "FILE"), strings.Contains(word, "DIR"):
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// namesOf asks the broker for the names in a list. There are none without a broker that answers at
// once.
func namesOf(cmd *cobra.Command, list string) (names []string) {
	op, err := brokerapi.Quietly(cmd)
	if err != nil {
		return nil
	}
	path := brokerapi.Path(list)
	if f := cmd.Flags().Lookup("vhost"); f != nil && f.Value.String() != "" && inVHosts[list] {
		path = brokerapi.Path(list, f.Value.String())
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	var all []display.Object
	if op.Read(ctx, path+"?"+url.Values{"columns": {"name"}}.Encode(), &all) != nil {
		return nil
	}
	for _, o := range all {
		if name := display.Cell(o["name"]); name != "" {
			names = append(names, name)
		}
	}
	return names
}
