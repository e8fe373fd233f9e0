package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// addPending adds to a history the samples of journals in dir that are not in
// the record yet, as when the repository could not be reached for a while:
// without them all of it would be measured again at each tick, and paid for.
func addPending(history bench.History, dir string, counts func(*bench.Sample) bool) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil {
		return fmt.Errorf("look for journals: %w", err)
	}
	type moment struct {
		pair bench.Pair
		ms   int64 // the record keeps milliseconds
	}
	known := map[moment]bool{}
	if len(files) > 0 {
		for pair, attempts := range history {
			for _, a := range attempts {
				known[moment{pair, a.StartedAt.UnixMilli()}] = true
			}
		}
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read a journal that waits: %w", err)
		}
		for s, err := range data.ReadJournal(filepath.Base(file), f, nil) {
			var line *data.LineError
			if errors.As(err, &line) {
				continue // ingesting will say so
			}
			if err != nil {
				f.Close()
				return fmt.Errorf("read a journal that waits: %w", err)
			}
			if m := (moment{s.Pair, s.StartedAt.UnixMilli()}); counts(&s) && !known[m] {
				known[m] = true
				history[s.Pair] = append(history[s.Pair], bench.AttemptOf(&s))
			}
		}
		f.Close()
	}
	return nil
}
