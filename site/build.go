// Package site renders the published site: a folder of static files that is
// complete without JavaScript and loads nothing from another host.
//
//  1. [Inputs] says all that a build depends on. There is no clock, network or
//     database here: equal inputs make equal bytes.
//  2. An edition derives every number once: tracks, summaries, boards.
//  3. Each file of the site is a path and a function of the edition. Pages are
//     typed values that a template lays out; what a number looks like is
//     decided in format.go alone.
//  4. An output writes the files that changed and removes those that are gone.
//
// Names come from providers. They are bounded and made harmless where they are
// shown (names.go), escaped by html/template, and never become paths as they
// stand (slug.go). [Crawl] checks a built site against these promises.
package site

import (
	"context"
	"runtime"
	"strings"
	"sync"
)

// A file is one file of the site: where it goes, and how its bytes are made.
type file struct {
	path string // slash-separated, relative to the site
	make func() ([]byte, error)
}

// Build renders the whole site into dir, which must be empty, missing, or built
// by an earlier call. Files whose bytes are unchanged are left alone. Progress,
// if not nil, is told how many files are done, from one goroutine at a time.
func Build(ctx context.Context, dir string, in Inputs, progress func(done, total int)) (Report, error) {
	e, err := newEdition(ctx, in)
	if err != nil {
		return Report{}, err
	}
	out, err := openOutput(dir)
	if err != nil {
		return Report{}, err
	}
	out.check = in.Check
	files, err := e.files()
	if err != nil {
		return Report{}, err
	}
	if err := out.writeAll(ctx, files, progress); err != nil {
		return Report{}, err
	}
	for _, f := range in.Dataset {
		if err := out.copy(datasetPath+f.Name, f); err != nil {
			return Report{}, err
		}
	}
	if err := out.close(); err != nil {
		return Report{}, err
	}
	return out.report(), nil
}

// files are all files of the site but the dataset's.
func (e *edition) files() ([]file, error) {
	var files []file
	for _, part := range []func() ([]file, error){
		e.assetFiles, e.boardFiles, e.pairFiles, e.modelFiles, e.providerFiles,
		e.compareFiles, e.raceFiles, e.reliabilityFiles, e.priceFiles, e.estimateFiles, e.evaluateFiles, e.statusFiles,
		e.changeFiles, e.proseFiles, e.datasetFiles, e.queryFiles, e.apiFiles, e.discoveryFiles,
		e.badgeFiles, e.socialFiles, e.themeFiles, e.schemaFiles, e.embedFiles, e.feedFiles, e.llmsFiles,
	} {
		more, err := part()
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// writeAll makes the files, several at a time, and writes them.
func (o *output) writeAll(ctx context.Context, files []file, progress func(done, total int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan file)
	var (
		workers sync.WaitGroup
		mu      sync.Mutex // guards done
		done    int
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for f := range next {
				data, err := f.make()
				if err == nil {
					err = o.write(f.path, data)
				}
				mu.Lock()
				if done++; progress != nil && err == nil {
					progress(done, len(files))
				}
				mu.Unlock()
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		next <- f
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// report says what was written.
func (o *output) report() Report {
	r := Report{Files: len(o.written), Changed: o.changed}
	for name, n := range o.written {
		r.Bytes += n
		if strings.HasSuffix(name, ".html") {
			r.Pages++
		}
	}
	return r
}
