package site

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// assets are the files published as they stand, under names that change with
// their content, so that a browser may keep them for ever.
type assets struct {
	names map[string]string // "style.css" → "assets/style.0a1b2c3d.css"
	data  map[string][]byte // "assets/style.0a1b2c3d.css" → content
}

// readAssets reads assets/ beside the templates.
func readAssets(templates fs.FS) (assets, error) {
	a := assets{names: map[string]string{}, data: map[string][]byte{}}
	entries, err := fs.ReadDir(templates, "assets")
	if err != nil {
		return a, fmt.Errorf("read the assets: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		name := entry.Name()
		data, err := fs.ReadFile(templates, "assets/"+name)
		if err != nil {
			return a, fmt.Errorf("read the assets: %w", err)
		}
		published := "assets/" + name
		if ext := path.Ext(name); ext != ".txt" { // a licence keeps its name
			sum := sha256.Sum256(data)
			published = "assets/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:4]) + ext
		}
		a.names[name] = published
		a.data[published] = data
	}
	return a, nil
}

func (e *edition) assetFiles() ([]file, error) {
	var files []file
	for name, data := range e.assets.data {
		files = append(files, file{name, func() ([]byte, error) { return data, nil }})
	}
	return files, nil
}
