package site

import (
	"context"
	"path"
	"slices"
)

// BuildPages is [Build] without what is no page: pictures, JSON, CSV, feeds. It
// is what a generator of pages can be held against.
func BuildPages(ctx context.Context, dir string, in Inputs) (Report, error) {
	e, err := newEdition(ctx, in)
	if err != nil {
		return Report{}, err
	}
	out, err := openOutput(dir)
	if err != nil {
		return Report{}, err
	}
	files, err := e.files()
	if err != nil {
		return Report{}, err
	}
	files = slices.DeleteFunc(files, func(f file) bool { return path.Ext(f.path) != ".html" })
	if err := out.writeAll(ctx, files, nil); err != nil {
		return Report{}, err
	}
	return out.report(), nil
}
