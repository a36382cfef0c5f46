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

// completions are the shells with completion scripts, each with how to load the script.
var completions = map[string]string{
	"bash":       "source <(fiveways completion bash)",
	"zsh":        "source <(fiveways completion zsh)",
	"fish":       "fiveways completion fish | source",
	"powershell": "fiveways completion powershell | Out-String | Invoke-Expression",
}

// addCompletion adds cobra's completion command with examples.
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

// completionPatience is the timeout of a broker's answer for completion.
const completionPatience = time.Second

// nameLists maps a word in the usage of a command to the list of the API that completes the
// argument. NAME depends on the command's group.
var nameLists = map[string]string{
	"QUEUE": "queues", "TO": "queues", "EXCHANGE": "exchanges",
	"user NAME": "users", "vhost NAME": "vhosts", "permission USER": "users", "connection NAME": "connections", "channel NAME": "channels",
	"policy NAME": "policies", "operator-policy NAME": "operator-policies", "shovel NAME": "shovels",
}

// inVHosts are the lists of objects that belong to virtual hosts.
var inVHosts = map[string]bool{"queues": true, "exchanges": true, "policies": true, "operator-policies": true, "shovels": true}

// completeNames makes every command below cmd complete its arguments and flags with the names of
// the broker's objects, and choices such as on|off. New names are not completed.
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
		panic(fmt.Sprintf("%s --%s: %v", cmd.CommandPath(), flag, err)) // the flag exists and has no other completion
	}
}

// choice matches an argument that is a choice of words: on|off.
var choice = regexp.MustCompile(`^[a-z-]+(\|[a-z-]+)+$`)

// completed returns the values of an argument, which is at position at among those in the usage.
func completed(cmd *cobra.Command, takes []string, at int) ([]string, cobra.ShellCompDirective) {
	if at >= len(takes) && strings.HasSuffix(takes[len(takes)-1], "…") {
		at = len(takes) - 1 // the last one may be repeated
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
	case known && (cmd.Name() != "add" || cmd.Parent().Name() == "binding"): // the other add commands take a new name
		return namesOf(cmd, list), cobra.ShellCompDirectiveNoFileComp
	case choice.MatchString(word):
		return strings.Split(word, "|"), cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(word, "FILE"), strings.Contains(word, "DIR"):
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// namesOf returns the names in a list of the broker, or none if no broker answers in time.
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
