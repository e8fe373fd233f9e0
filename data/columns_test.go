package data

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestColumnCosts prints what each column of a sample adds to a year of pushes:
// how much smaller the difference between two versions of a day file is without
// its values. It runs with -sizes.
func TestColumnCosts(t *testing.T) {
	if !*sizesLong {
		t.Skip("-sizes is not set")
	}
	t.Parallel()
	lab := newSizeLab(t, bigWorkload())
	lab.fill(sizesFrom.Add(12*time.Hour), 12*time.Hour)
	before := lab.day()
	from := lab.now
	lab.fill(from.Add(time.Hour), time.Hour)
	after := lab.day()
	samples := float64(len(lab.workload.between(from, lab.now)))
	perDay := float64(len(lab.workload.between(sizesFrom, sizesFrom.Add(day))))
	whole := lab.delta(lab.without(before, ""), lab.without(after, ""))
	type cost struct {
		column string
		year   float64 // bytes
	}
	var costs []cost
	for _, column := range strings.Split(strings.Join(strings.Fields(keptColumns), " "), ", ")[1:] { // all but id
		saved := whole - lab.delta(lab.without(before, column), lab.without(after, column))
		costs = append(costs, cost{column, 365 * perDay * saved / samples})
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(b.year, a.year) })
	var table strings.Builder
	for _, c := range costs {
		fmt.Fprintf(&table, "| `%s` | %.1f MB |\n", c.column, c.year/1e6)
	}
	t.Logf("%.0f bytes for %.0f samples\n%s", whole, samples, &table)
	if whole <= 0 || costs[0].year < 1e6 {
		t.Errorf("the dearest column costs %.0f bytes a year", costs[0].year)
	}
}

// day returns the raw file of the first day as it is.
func (l *sizeLab) day() []byte {
	l.Helper()
	content, err := os.ReadFile(l.record.path(rawFile(sizesFrom)))
	if err != nil {
		l.Fatal(err)
	}
	return content
}

// without returns a day file without the values of a column of raw_samples, or
// with all of them for "", rewritten from its first page to its last.
func (l *sizeLab) without(content []byte, column string) []byte {
	l.Helper()
	path, rewritten := filepath.Join(l.TempDir(), "day.sqlite"), filepath.Join(l.TempDir(), "rewritten.sqlite")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		l.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		l.Fatal(err)
	}
	defer db.Close()
	if column != "" {
		nothing := `NULL`
		var required bool
		if err := db.QueryRow(`SELECT "notnull" FROM pragma_table_xinfo('raw_samples') WHERE name = ?`, column).Scan(&required); err != nil {
			l.Fatal(err)
		}
		if required {
			nothing = `0`
		}
		// The rows stay as long as they were: zeros take the place of the values.
		if _, err := db.Exec(strings.NewReplacer("$column", column, "$nothing", nothing).Replace(`
			UPDATE raw_samples SET $column = $nothing, pad = zeroblob(coalesce(length(pad), 0) + CASE
				WHEN coalesce($column, 0) IN (0, 1) THEN 0
				WHEN $column BETWEEN -0x80 AND 0x7f THEN 1
				WHEN $column BETWEEN -0x8000 AND 0x7fff THEN 2
				WHEN $column BETWEEN -0x800000 AND 0x7fffff THEN 3
				ELSE 4 END)`)); err != nil {
			l.Fatal(err)
		}
	}
	if _, err := db.Exec(`VACUUM INTO ?`, rewritten); err != nil {
		l.Fatal(err)
	}
	content, err = os.ReadFile(rewritten)
	if err != nil {
		l.Fatal(err)
	}
	return content
}

// delta returns the bytes of a thin pack that takes a repository from one
// version of a file to another.
func (l *sizeLab) delta(before, after []byte) float64 {
	l.Helper()
	var commits [2]string
	for i, content := range [][]byte{before, after} {
		blob := strings.TrimSpace(l.git(string(content), "hash-object", "-w", "--stdin"))
		tree := strings.TrimSpace(l.git("100644 blob "+blob+"\tday.sqlite\n", "mktree"))
		args := []string{"commit-tree", "-m", "day", tree}
		if i > 0 {
			args = append(args, "-p", commits[0])
		}
		commits[i] = strings.TrimSpace(l.git("", args...))
	}
	return float64(len(l.git(commits[1]+"\n^"+commits[0]+"\n", "pack-objects", "--thin", "--delta-base-offset", "--revs", "--stdout", "-q")))
}
