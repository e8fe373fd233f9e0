package data

import "github.com/mattn/go-sqlite3"

// SQLiteVersion returns the version of the SQLite that is compiled in, such as
// "3.54.1".
func SQLiteVersion() string {
	version, _, _ := sqlite3.Version()
	return version
}
