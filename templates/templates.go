// Package templates holds the page templates of the site and the files that go
// with them unchanged: stylesheet, scripts, icon. Package site parses and renders
// them; a folder of the same shape can replace them for editing. For what is too
// frequent on a page to be a template there is [Markup].
//
// Nothing here may load from another host or need an exception in a content
// security policy of default-src 'none' with 'self' for scripts, styles,
// images, workers and connections.
package templates

import (
	"embed"
	"io/fs"
)

//go:generate sh assets/echarts/build.sh
//go:generate sh assets/sqlite/build.sh

//go:embed *.tmpl assets/*.css assets/*.js assets/*.svg assets/*.txt assets/*.wasm
var files embed.FS

// Files holds the templates at its root and what is published as it stands
// under assets/.
func Files() fs.FS { return files }
