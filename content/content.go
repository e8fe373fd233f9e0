// Package content holds the site's prose as Markdown. Each file is a template
// first, so that constants and worked numbers come from the code they describe.
package content

import "embed"

// FS holds every page of prose, and the evaluation that the site shows as an
// example: what `streamgauge evaluate --json` prints of a simulated provider.
//
//go:embed *.md evaluation.json
var FS embed.FS
