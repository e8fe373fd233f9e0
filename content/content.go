// Package content holds the site's prose as Markdown. Each file is a template
// first, so that constants and worked numbers come from the code they describe.
package content

import "embed"

// FS holds every page of prose.
//
//go:embed *.md
var FS embed.FS
