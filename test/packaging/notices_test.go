package packaging

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

const notices = "../../THIRD-PARTY-NOTICES"

// allowedLicences are the licences that linked code may have: they require that their texts
// accompany the binary, and nothing else.
var allowedLicences = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "PostgreSQL"}

// notice is a file about the rights to the code in a folder.
type notice struct {
	file string // below an import path or this repository
	text string
}

var (
	noticeFile  = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-]\w+)?$`)
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-]\w+)?$`)
)

// TestNotices checks that the notices file has the notices of all code that is linked on any
// release platform, and that all of its licences are allowed.
func TestNotices(t *testing.T) {
	found, complaints := collect(t)
	for _, c := range complaints {
		t.Error(c)
	}
	want := format(found)
	if *update {
		must(t, os.WriteFile(notices, []byte(want), 0o644))
	}
	if got, err := os.ReadFile(notices); err != nil || string(got) != want {
		t.Errorf("THIRD-PARTY-NOTICES is not that of the modules that are linked now: `make notices` writes it (%v)", err)
	}
}

// collect returns the notices of all linked code: Go itself, modules, the libraries of the page,
// and the C code that PostgreSQL's parser was translated from. complaints lists licences that are
// missing or not allowed.
func collect(t *testing.T) (found []notice, complaints []string) {
	t.Helper()
	add := func(name, dir string, whole bool) {
		all, err := noticesOf(name, dir)
		if err == nil && (whole || len(all) > 0) {
			err = checkLicence(all)
		}
		if err != nil {
			complaints = append(complaints, name+": "+err.Error())
		}
		found = append(found, all...)
	}
	add("Go and its standard library", strings.TrimSpace(output(t, "go", "env", "GOROOT")), true)
	linked := linkedFolders(t)
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		add(name, linked[name].dir, linked[name].module)
	}
	libraries, err := os.ReadDir("../../web/vendor")
	must(t, err)
	for _, l := range libraries {
		if l.IsDir() {
			add("web/vendor/"+l.Name(), "../../web/vendor/"+l.Name(), true)
		}
	}
	const translated = "internal/protocol/pgwire/sql/parse/libpgquery"
	add(translated, "../../"+translated, true)
	const parser = "github.com/pganalyze/pg_query_go/v6"
	for _, file := range []string{"parser/protobuf-c.c", "parser/include/xxhash/xxhash.h"} {
		n, err := headOf(filepath.Join(linked[parser].dir, file))
		if err == nil {
			err = checkText(n)
		}
		if err != nil {
			complaints = append(complaints, err.Error())
		}
		found = append(found, notice{parser + "/" + file, n})
	}
	return found, complaints
}

// folder is a folder of a module.
type folder struct {
	dir    string
	module bool // it is the module's root
}

// linkedFolders returns the folders of other modules that have linked packages below them, by
// import path.
func linkedFolders(t *testing.T) map[string]folder {
	t.Helper()
	all := map[string]folder{}
	for _, platform := range strings.Fields(output(t, "../../deploy/release/build", "platforms")) {
		system, processor, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{$.ImportPath}} {{$.Dir}} {{.Path}}{{end}}{{end}}", "../../cmd/fiveways")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", platform, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) != 3 {
				continue
			}
			name, dir, module := f[0], f[1], f[2]
			for ; name != module; name, dir = path.Dir(name), filepath.Dir(dir) {
				all[name] = folder{dir: dir}
			}
			all[module] = folder{dir: dir, module: true}
		}
	}
	return all
}

// noticesOf reads the notices in a folder.
func noticesOf(name, dir string) (all []notice, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !noticeFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, notice{path.Join(name, e.Name()), strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))})
	}
	return all, nil
}

// checkLicence returns why code with these notices must not be linked.
func checkLicence(all []notice) error {
	licences := 0
	for _, n := range all {
		if !licenceFile.MatchString(path.Base(n.file)) {
			continue
		}
		licences++
		if err := checkText(n.text); err != nil {
			return err
		}
	}
	if licences == 0 {
		return errors.New("has no licence")
	}
	return nil
}

// checkText returns an error unless the text consists of allowed licences.
func checkText(text string) error {
	cover := licensecheck.Scan([]byte(text))
	for _, m := range cover.Match {
		if !m.IsURL && !slices.Contains(allowedLicences, m.ID) {
			return fmt.Errorf("licence %s is not on the list of allowed ones", m.ID)
		}
	}
	if cover.Percent < 75 {
		return fmt.Errorf("only %.0f %% of its licence is a text that is known", cover.Percent)
	}
	return nil
}

// headOf returns the comment at the beginning of a C file, without its stars.
func headOf(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	head, _, _ := strings.Cut(string(text), "*/")
	return strings.TrimSpace(regexp.MustCompile(`(?m)^(/\*| \*) ?`).ReplaceAllString(head, "")), nil
}

// format formats the notices file. A text that several notices share appears once.
func format(all []notice) string {
	var order []string
	of := map[string][]string{}
	for _, n := range all {
		if of[n.text] == nil {
			order = append(order, n.text)
		}
		of[n.text] = append(of[n.text], n.file)
	}
	var b strings.Builder
	b.WriteString("Fiveways contains the software below. Each text is preceded by the files that have it.\n")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(of[text], "\n"), text)
	}
	return b.String()
}

func TestLicencesThatAreNotAllowed(t *testing.T) {
	mit, err := os.ReadFile("../../web/vendor/preact/LICENSE")
	must(t, err)
	const gpl = "This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version."
	for name, c := range map[string]struct {
		all []notice
		ok  bool
	}{
		"MIT":        {[]notice{{"m/LICENSE", string(mit)}}, true},
		"none":       {nil, false},
		"a notice":   {[]notice{{"m/NOTICE", string(mit)}}, false},
		"GPL":        {[]notice{{"m/LICENSE", gpl}}, false},
		"two":        {[]notice{{"m/LICENSE", string(mit)}, {"m/LICENSE.GPL", gpl}}, false},
		"of its own": {[]notice{{"m/LICENSE", "Use it as you like, but never on Sundays."}}, false},
	} {
		if err := checkLicence(c.all); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
