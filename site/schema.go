package site

import (
	"embed"
	"fmt"
)

// The schemas of the API are written by hand and not made from the types: a
// schema that follows every change of a type would promise nothing. Tests hold
// each answer to its schema, and let no field go undescribed.
//
//go:embed schema/*.json
var schemas embed.FS

// schemaPath is the folder of the schemas, in JSON Schema, draft 2020-12. They
// refer to one another by relative addresses, so any copy of the folder works.
const schemaPath = apiPath + "schema/"

// answerKinds are the kinds of answer, each with a schema of its own.
func answerKinds() []string {
	return []string{"index", "pairs", "providers", "events", "incidents", "leaderboard", "pair"}
}

// schemaFiles are the schemas of all answers, and what they share.
func (e *edition) schemaFiles() ([]file, error) {
	var files []file
	for _, name := range append(answerKinds(), "common") {
		data, err := schemas.ReadFile("schema/" + name + ".json")
		if err != nil {
			return nil, fmt.Errorf("schema of the API: %w", err)
		}
		files = append(files, file{schemaPath + name + ".json", func() ([]byte, error) { return data, nil }})
	}
	return files, nil
}

// schemaPaths are the paths of the schemas by kind of answer.
func schemaPaths() map[string]string {
	paths := map[string]string{}
	for _, name := range answerKinds() {
		paths[name] = schemaPath + name + ".json"
	}
	return paths
}
