package data

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// TestKeptIsLossless writes rows of any numbers, not only sensible ones, and
// reads them back through the virtual columns. Nothing may change.
func TestKeptIsLossless(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	rnd := rand.New(rand.NewPCG(31, 32))
	bounds := []int64{3, 130, 40_000, maxCountable}
	number := func() int64 { return rnd.Int64N(bounds[rnd.IntN(len(bounds))]) }
	for i := range 3_000 {
		want := row{id: int64(i+1)<<30 | rnd.Int64N(1<<30), env: 1}
		for _, field := range want.fields()[2:] {
			switch f := field.(type) {
			case *int64:
				*f = number()
			case *sql.NullInt64:
				*f = knownIf(rnd.IntN(4) > 0, number())
			}
		}
		// A run may begin before its slot, and setup may round below its parts.
		want.late, want.setupRest = less(want.late, 100), less(want.setupRest, 1)
		if _, err := db.ExecContext(t.Context(), `INSERT INTO raw_samples(`+keptColumns+`) VALUES(`+placeholders(keptColumns)+`)`, want.kept()...); err != nil {
			t.Fatal(err)
		}
		var got row
		if err := db.QueryRowContext(t.Context(), `SELECT `+rowColumns+` FROM raw_samples WHERE id = ?`, want.id).Scan(got.fields()...); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("kept %+v,\nread %+v", want, got)
		}
	}
}

// openNew opens a new file of the record without foreign keys.
func openNew(t *testing.T) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), schema+`; COMMIT`); err != nil {
		t.Fatal(err)
	}
	return db
}
