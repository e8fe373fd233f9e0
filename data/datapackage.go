package data

import (
	"slices"
	"strings"
	"time"
)

// A DataPackage describes the files of a download to programs: the Data Package
// of Frictionless Standards, version 1, https://specs.frictionlessdata.io/data-package/.
type DataPackage struct {
	Profile   string            `json:"profile"`
	Name      string            `json:"name"`
	Title     string            `json:"title"`
	Created   *time.Time        `json:"created,omitempty"`
	Licenses  []PackageLicense  `json:"licenses,omitempty"`
	Resources []PackageResource `json:"resources"`
}

// A PackageLicense is a licence of the data.
type PackageLicense struct {
	Name string `json:"name"`
}

// A PackageResource is one file. Only text files have a schema.
type PackageResource struct {
	Name        string         `json:"name"`
	Path        string         `json:"path"`
	Profile     string         `json:"profile"`
	Format      string         `json:"format"`
	Compression string         `json:"compression,omitempty"`
	MediaType   string         `json:"mediatype,omitempty"`
	Encoding    string         `json:"encoding,omitempty"`
	Bytes       int64          `json:"bytes"`
	Hash        string         `json:"hash"`
	Schema      *PackageSchema `json:"schema,omitempty"`
}

// A PackageSchema says what the columns of a text file mean.
type PackageSchema struct {
	Fields        []PackageField `json:"fields"`
	PrimaryKey    string         `json:"primaryKey"`
	MissingValues []string       `json:"missingValues"` // a field that says so is unknown
}

// A PackageField is a column.
type PackageField struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Format      string   `json:"format,omitempty"`
	Unit        string   `json:"unit"` // as in the dictionary
	Description string   `json:"description"`
	TrueValues  []string `json:"trueValues,omitempty"`
	FalseValues []string `json:"falseValues,omitempty"`
}

// NewDataPackage describes the files of a manifest.
func NewDataPackage(m Manifest) DataPackage {
	p := DataPackage{
		Profile: "data-package", Name: "streamgauge",
		Title: "Measured streaming performance of hosted language models",
	}
	if !m.GeneratedAt.IsZero() {
		p.Created = &m.GeneratedAt
	}
	if m.License != "" {
		p.Licenses = []PackageLicense{{m.License}}
	}
	for _, f := range m.Files {
		plain, gz := strings.CutSuffix(f.Name, ".gz")
		base, format, _ := strings.Cut(plain, ".")
		r := PackageResource{
			// Names must be unique; a compressed file has the whole name.
			Name: strings.ToLower(strings.ReplaceAll(f.Name, ".", "-")), Path: f.Name, Profile: "data-resource",
			Format: format, Bytes: f.Bytes, Hash: "sha256:" + f.SHA256,
		}
		if gz {
			r.Compression = "gz"
		}
		switch format {
		case string(CSV):
			r.MediaType, r.Encoding = "text/csv", "utf-8"
		case string(NDJSON):
			r.MediaType, r.Encoding = "application/x-ndjson", "utf-8"
		case "sqlite":
			r.MediaType = "application/vnd.sqlite3"
		}
		if slices.Contains(Views(), base) && r.Encoding != "" {
			r.Profile, r.Schema = "tabular-data-resource", packageSchema(base)
		}
		p.Resources = append(p.Resources, r)
	}
	return p
}

func packageSchema(view string) *PackageSchema {
	s := &PackageSchema{PrimaryKey: "id", MissingValues: []string{""}}
	for _, c := range Dictionary() {
		if c.Relation != view {
			continue
		}
		f := PackageField{Name: c.Name, Type: string(c.Type()), Unit: c.Unit, Description: c.Meaning}
		if c.Type() == TypeBoolean {
			f.TrueValues, f.FalseValues = []string{"1"}, []string{"0"}
		}
		s.Fields = append(s.Fields, f)
	}
	return s
}
