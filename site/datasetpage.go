package site

import (
	"slices"
	"strings"
)

// datasetPath is the folder of the dataset's page and its downloads.
const datasetPath = "dataset/"

// A DatasetPage offers the dataset, says what is in it and how to use it.
type DatasetPage struct {
	Page
	Prose     Prose
	Contents  []Heading
	Downloads []Download
	Schema    []SchemaTable
	Cite      string
	Stability string // what the API promises
	Machines  Machines
	About     *aboutData
}

// aboutData describes the dataset to search engines, in the words of
// https://schema.org/Dataset.
type aboutData struct {
	Context      string          `json:"@context"`
	Type         string          `json:"@type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	URL          string          `json:"url"`
	License      string          `json:"license"`
	Modified     string          `json:"dateModified"`
	Distribution []aboutDownload `json:"distribution,omitempty"`
}

type aboutDownload struct {
	Type string `json:"@type"`
	Name string `json:"name"`
	URL  string `json:"contentUrl"`
	Size string `json:"contentSize"`
}

// A Download is a file to download.
type Download struct {
	Link
	Note, Size, SHA256 string
}

// A SchemaTable is the columns of one table of the dataset.
type SchemaTable struct {
	Name    string
	Columns []Column // Name without the table
}

func (e *edition) datasetFiles() ([]file, error) {
	names, err := proseNames(e.in.Content)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	prose, err := e.prose(datasetProse, known)
	if err != nil {
		return nil, err
	}
	return []file{e.html(datasetPath+"index.html", "dataset", func() (any, error) {
		p := DatasetPage{Page: e.page(datasetPath, datasetPath, prose.Title, prose.Summary, "copy.js"), Prose: prose}
		e.wear(&p.Page, "prose.css")
		for _, f := range e.in.Dataset {
			p.Downloads = append(p.Downloads, Download{Link{f.Name, f.Name}, f.Note, size(f.Bytes), f.SHA256})
		}
		p.Schema = schemaTables(e.in.Schema)
		p.Cite, p.Stability = e.citation(), apiStability
		p.Contents = append(slices.Clone(prose.Contents), Heading{"download", "Download"}, Heading{"licence", "Licence and citation"}, Heading{"api", "API"}, Heading{"badges", "Badges, embedding and feeds"})
		p.Machines = e.machines(p.Root)
		p.About = e.aboutDataset(prose.Summary)
		if len(p.Schema) > 0 {
			p.Contents = append(p.Contents, Heading{"schema", "What each column means"})
		}
		return p, nil
	})}, nil
}

// schemaTables groups columns by table, in the order of their first column.
func schemaTables(columns []Column) []SchemaTable {
	var tables []SchemaTable
	at := map[string]int{}
	for _, c := range columns {
		name, column, ok := strings.Cut(c.Name, ".")
		if !ok {
			name, column = "", c.Name
		}
		i, seen := at[name]
		if !seen {
			i = len(tables)
			at[name] = i
			tables = append(tables, SchemaTable{Name: name})
		}
		c.Name = column
		tables[i].Columns = append(tables[i].Columns, c)
	}
	return tables
}

// citation is how to cite the dataset as it is.
func (e *edition) citation() string {
	text := e.in.Config.Name + " dataset"
	if e.in.Config.Owner != "" {
		text = e.in.Config.Owner + ". " + text
	}
	text += ", as of " + instant(e.now)
	if e.in.Revision != "" {
		text += ", record " + display(e.in.Revision)
	}
	text += ". " + e.in.Config.DataLicence + "."
	if e.base != nil {
		text += " " + e.base.String() + datasetPath
	}
	return text
}

// aboutDataset returns nil where the site has no address, or its data is not
// worth finding.
func (e *edition) aboutDataset(summary string) *aboutData {
	if e.base == nil || e.in.Simulated || e.in.Config.NoIndex {
		return nil
	}
	base := e.base.String() + datasetPath
	a := &aboutData{
		Context: "https://schema.org", Type: "Dataset", Name: e.in.Config.Name + " dataset", Description: summary,
		URL: base, License: e.in.Config.DataLicence, Modified: iso(e.now),
	}
	for _, f := range e.in.Dataset {
		a.Distribution = append(a.Distribution, aboutDownload{"DataDownload", f.Name, base + f.Name, size(f.Bytes)})
	}
	return a
}
