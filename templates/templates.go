// Package templates holds the page templates of the site and the files that go
// with them unchanged: stylesheet, scripts, icon. It only embeds; package site
// parses and renders. A folder of the same shape can replace it for editing.
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
