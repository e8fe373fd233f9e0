package data

import (
	"database/sql"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
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
		if _, err := db.ExecContext(t.Context(), `INSERT INTO raw_samples(`+paddedColumns+`) VALUES(`+placeholders(paddedColumns)+`)`, want.padded()...); err != nil {
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

// TestRowsAreAsLong reads the pages of a day file: the offsets of the rows in a
// page must lie as far apart as in every other one, which is what git rewards.
func TestRowsAreAsLong(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	samples := bigWorkload().between(sizesFrom, sizesFrom.Add(2*time.Hour))
	ingest(t, s, samples...)
	content, err := os.ReadFile(s.path(rawFile(sizesFrom)))
	if err != nil {
		t.Fatal(err)
	}
	const tableLeaf = 13 // https://sqlite.org/fileformat2.html, section 1.6
	lengths := map[int]int{}
	for page := range slices.Chunk(content[pageSize:], pageSize) { // the first one holds the schema
		if page[0] != tableLeaf {
			continue
		}
		previous := pageSize
		for i := range int(binary.BigEndian.Uint16(page[3:])) {
			offset := int(binary.BigEndian.Uint16(page[8+2*i:]))
			lengths[previous-offset]++
			previous = offset
		}
	}
	if most := slices.Max(slices.Collect(maps.Values(lengths))); most != len(samples) {
		t.Errorf("%d of %d samples are as long; rows of all tables by length: %v", most, len(samples), lengths)
	}
}

// TestPadding holds what we take a value to weigh against what SQLite says.
func TestPadding(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	for _, tt := range []struct {
		value any
		want  int
	}{
		{known(0), 0}, {known(1), 0}, {sql.NullInt64{}, 0}, {int64(-1), 1}, {int64(2), 1}, {known(127), 1}, {known(-128), 1}, {known(128), 2},
		{known(-129), 2}, {known(32767), 2}, {known(32768), 3}, {known(-32769), 3}, {known(1<<23 - 1), 3}, {known(1 << 23), 4},
		{known(1<<31 - 1), 4}, {known(1 << 31), 6}, {known(1<<47 - 1), 6}, {known(-1 << 47), 6}, {known(1 << 47), 8},
	} {
		if got := storedBytes(tt.value); got != tt.want {
			t.Errorf("%v: %d bytes, want %d", tt.value, got, tt.want)
		}
	}
	long := row{id: 1, env: 1, chars: maxCountable, words: maxCountable, chunks: maxCountable, merged: maxCountable, stall: maxCountable, stalls: maxCountable}
	short := row{id: 2, env: 1}
	for _, r := range []row{long, short} {
		if _, err := db.ExecContext(t.Context(), `INSERT INTO raw_samples(`+paddedColumns+`) VALUES(`+placeholders(paddedColumns)+`)`, r.padded()...); err != nil {
			t.Fatal(err)
		}
	}
	var none, some sql.NullInt64
	if err := db.QueryRowContext(t.Context(), `SELECT (SELECT length(pad) FROM raw_samples WHERE id = 1), (SELECT length(pad) FROM raw_samples WHERE id = 2)`).Scan(&none, &some); err != nil {
		t.Fatal(err)
	}
	if none.Valid || some.Int64 < paddedBytes-20 {
		t.Errorf("pads of %v and %v bytes, want none and most of %d", none, some, paddedBytes)
	}
}
