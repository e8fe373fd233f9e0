package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

const (
	factsName = "models.dev.json" // the prices beside the model lists
	maxList   = 8 << 20           // bytes in a list
)

// modelLists are what a measuring job read of the providers' models and prices,
// by file name.
type modelLists map[string]any

// readLists reads from folders the lists of providers that discover models.
// Later folders win; what is in them beside lists is not looked at.
func readLists(list []bench.Provider, folders []string) (modelLists, error) {
	lists := modelLists{}
	for _, folder := range folders {
		var facts bench.FactSheet
		switch err := readBounded(filepath.Join(folder, factsName), &facts); {
		case err == nil:
			lists[factsName] = facts
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		for i := range list {
			if list[i].Discover == nil || list[i].Private {
				continue
			}
			name := list[i].PublicName() + ".json"
			var catalog bench.Catalog
			switch err := readBounded(filepath.Join(folder, name), &catalog); {
			case err == nil:
				lists[name] = catalog
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	return lists, nil
}

// sightAge is how old the last sight of models in a kept list may become before
// the list is written again for that alone: the record of a tick that measured
// nothing should not change.
const sightAge = 24 * time.Hour

// write puts the lists into a folder, but for those that say what is there.
func (l modelLists) write(folder string) error {
	for name, v := range l {
		file := filepath.Join(folder, name)
		same := false
		switch v := v.(type) {
		case bench.Catalog:
			var kept bench.Catalog
			same = readBounded(file, &kept) == nil && sameCatalog(kept, v)
		case bench.FactSheet:
			var kept bench.FactSheet
			same = readBounded(file, &kept) == nil && reflect.DeepEqual(kept.Facts, v.Facts)
		}
		if same {
			continue
		}
		if err := writeJSON(file, v); err != nil {
			return err
		}
	}
	return nil
}

// sameCatalog reports whether two catalogues list the same, seen about the same
// time.
func sameCatalog(kept, read bench.Catalog) bool {
	if len(kept.Models) != len(read.Models) {
		return false
	}
	for id, is := range read.Models {
		was, ok := kept.Models[id]
		if !ok || is.LastSeen.Sub(was.LastSeen) > sightAge {
			return false
		}
		was.LastSeen = is.LastSeen
		if !reflect.DeepEqual(was, is) {
			return false
		}
	}
	return true
}

// readBounded reads a JSON file of a known shape and at most maxList bytes.
func readBounded(file string, v any) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(file), err)
	}
	defer f.Close()
	dec := json.NewDecoder(io.LimitReader(f, maxList))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(file), err)
	}
	return nil
}
