package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/templates"
)

// versionCmd says what this program is and is made of.
type versionCmd struct {
	SBOM bool `name:"sbom" help:"Print the bill of materials: every module, library and script inside, as CycloneDX 1.6."`
}

// Help is printed under the usage line.
func (versionCmd) Help() string {
	return `The program knows from its own build which modules it has, with their checksums.
Example: streamgauge version --sbom >streamgauge.cdx.json`
}

// Run prints.
func (c *versionCmd) Run(a *app) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("the program was built without information on its build")
	}
	if c.SBOM {
		list, err := materials(info)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(list)
	}
	b := stampOf(info)
	fmt.Fprintf(a.stdout, "streamgauge %s\n", b.version)
	if b.revision != "" {
		fmt.Fprintf(a.stdout, "commit  %s of %s%s\n", b.revision, b.time, b.modified)
	}
	_, err := fmt.Fprintf(a.stdout, "built   for %s/%s by %s, with SQLite %s\n", b.system, b.machine, info.GoVersion, data.SQLiteVersion())
	return err
}

// A stamp is what a program says of its own build.
type stamp struct{ version, revision, time, modified, system, machine string }

func stampOf(info *debug.BuildInfo) stamp {
	b := stamp{version: info.Main.Version}
	if b.version == "" {
		b.version = "(devel)"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.time":
			b.time = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				b.modified = ", with changes"
			}
		case "GOOS":
			b.system = s.Value
		case "GOARCH":
			b.machine = s.Value
		}
	}
	return b
}

// A bill is a bill of materials: CycloneDX 1.6, as far as it is used here. See
// https://cyclonedx.org/docs/1.6/json/.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     billMetadata `json:"metadata"`
	Components   []material   `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

// billMetadata says what the bill is of. The time is that of the commit, so that
// one commit has one bill.
type billMetadata struct {
	Timestamp string   `json:"timestamp,omitempty"`
	Component material `json:"component"`
}

// A material is something inside the program.
type material struct {
	Type     string            `json:"type"`
	Ref      string            `json:"bom-ref"`
	Name     string            `json:"name"`
	Version  string            `json:"version,omitempty"`
	Hashes   []materialHash    `json:"hashes,omitempty"`
	Licenses []materialLicense `json:"licenses,omitempty"`
	CPE      string            `json:"cpe,omitempty"`
	PURL     string            `json:"purl"`
}

type materialHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type materialLicense struct {
	License struct {
		ID string `json:"id"` // of SPDX
	} `json:"license"`
}

func licensed(id string) []materialLicense {
	l := materialLicense{}
	l.License.ID = id
	return []materialLicense{l}
}

// A dependency says what a material is made of.
type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// materials lists what a program is made of: the Go modules that its build
// information names, Go's own library, the SQLite inside its driver, and the
// scripts of others among the pages' assets.
func materials(info *debug.BuildInfo) (bill, error) {
	b := stampOf(info)
	whole := golang(info.Main.Path, b.version, "")
	whole.Type, whole.Licenses = "application", licensed("Apache-2.0")
	whole.PURL += "?type=module&goos=" + b.system + "&goarch=" + b.machine
	list := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: billMetadata{Timestamp: b.time, Component: whole},
	}
	parts := []material{golang("std", strings.TrimPrefix(strings.Fields(info.GoVersion + " ")[0], "go"), "")}
	parts[0].Licenses = licensed("BSD-3-Clause")
	lite := data.SQLiteVersion()
	sqlite := material{
		Type: "library", Ref: "pkg:generic/sqlite@" + lite, Name: "sqlite", Version: lite, Licenses: licensed("blessing"),
		CPE: "cpe:2.3:a:sqlite:sqlite:" + lite + ":*:*:*:*:*:*:*", PURL: "pkg:generic/sqlite@" + lite,
	}
	parts = append(parts, sqlite)
	driver := ""
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		part := golang(m.Path, m.Version, m.Sum)
		if m.Path == "github.com/mattn/go-sqlite3" {
			driver = part.Ref
		}
		parts = append(parts, part)
	}
	scripts, err := bundled(templates.Files())
	if err != nil {
		return bill{}, fmt.Errorf("list the scripts of others: %w", err)
	}
	for _, s := range scripts {
		purl := "pkg:npm/" + strings.Replace(s.Package, "@", "%40", 1) + "@" + s.Version
		parts = append(parts, material{Type: "library", Ref: purl, Name: s.Package, Version: s.Version, Licenses: licensed(s.Licence), PURL: purl})
	}
	list.Components = parts
	direct := dependency{Ref: whole.Ref}
	for _, p := range parts {
		if p.Ref != sqlite.Ref || driver == "" {
			direct.On = append(direct.On, p.Ref)
		}
	}
	list.Dependencies = append(list.Dependencies, direct)
	if driver != "" {
		list.Dependencies = append(list.Dependencies, dependency{driver, []string{sqlite.Ref}})
	}
	return list, nil
}

// golang describes a Go module. Its sum, if known, is the SHA-256 of the list
// of its files: see https://go.dev/ref/mod#go-sum-files.
func golang(path, version, sum string) material {
	m := material{Type: "library", Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
	m.Ref = m.PURL
	if text, ok := strings.CutPrefix(sum, "h1:"); ok {
		if hash, err := base64.StdEncoding.DecodeString(text); err == nil {
			m.Hashes = []materialHash{{"SHA-256", hex.EncodeToString(hash)}}
		}
	}
	return m
}

// A script is a package of others inside a file of the pages.
type script struct{ Package, Version, Licence string }

// banner is what a bundle's first line says of one package in it.
var banner = regexp.MustCompile(`([@A-Za-z][\w./@-]*) (\d[\w.-]*) \(([\w.-]+)\)`)

// bundled reads the packages of others from the first lines of the scripts.
func bundled(files fs.FS) ([]script, error) {
	paths, err := fs.Glob(files, "assets/*.min.js")
	if err != nil {
		return nil, err
	}
	var list []script
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		found := banner.FindAllStringSubmatch(first, -1)
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: its first line does not say what is in it", path)
		}
		for _, m := range found {
			list = append(list, script{strings.ToLower(m[1]), m[2], m[3]})
		}
	}
	return list, nil
}
