package sqlite

import (
	"database/sql"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
)

type name string

// A value goes where database/sql would put it, or nowhere.
func TestAssign(t *testing.T) {
	n, text := int64(7), "text"
	for _, c := range []struct {
		value any
		dst   any
		want  any // nil: refused
	}{
		{text, new(string), text}, {text, new(name), name(text)}, {text, new([]byte), []byte(text)}, {text, new(*string), &text},
		{[]byte("b"), new([]byte), []byte("b")}, {nil, new([]byte), []byte(nil)}, {nil, new(*int64), (*int64)(nil)},
		{n, new(int64), n}, {n, new(int), 7}, {n, new(uint64), uint64(7)}, {n, new(*int64), &n}, {n, new(int8), int8(7)},
		{int64(1), new(bool), true}, {int64(0), new(bool), false}, {nil, new(sql.NullString), sql.NullString{}}, {text, new(sql.NullString), sql.NullString{String: text, Valid: true}},
		{n, new(bool), nil}, {n, new(string), nil}, {text, new(int), nil}, {nil, new(string), nil}, {nil, new(int64), nil}, {nil, new(bool), nil}, {int64(300), new(int8), nil},
		{int64(-1), new(uint64), nil}, {[]byte("b"), new(string), nil}, {1.5, new(int), nil}, {n, n, nil}, {n, (*int)(nil), nil}, {n, new([]string), nil}, {nil, new([]string), nil},
	} {
		err := assign(c.dst, c.value)
		if c.want == nil {
			if err == nil {
				t.Errorf("%#v went into a %T", c.value, c.dst)
			}
			continue
		}
		if got := reflect.ValueOf(c.dst).Elem().Interface(); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%#v in a %T is %#v, %v", c.value, c.dst, got, err)
		}
	}
}

// A connection goes on after a statement that failed, and after rows that were not read to their end.
func TestLasting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	l, err := connect(path, "_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB) STRICT", "INSERT INTO t VALUES (1, NULL), (2, x'02'), (3, x'03')"} {
		if _, err := l.exec(query); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := l.exec("INSERT INTO t VALUES ($1, $2)", int64(1), []byte("b")); err == nil {
			t.Error("a key was taken twice")
		}
		if _, err := l.exec("INSERT INTO t VALUES ($1, $2)", struct{}{}, nil); err == nil {
			t.Error("a structure was bound")
		}
		if _, err := l.exec("INSERT INTO missing VALUES (1)"); err == nil {
			t.Error("a table that is not there")
		}
		rows, err := l.query("SELECT a, b FROM t WHERE a >= $1 ORDER BY a", 1)
		if err != nil {
			t.Fatal(err)
		}
		var a int
		var b []byte
		if !rows.Next() || rows.Scan(&a) == nil || rows.Scan(&a, &b) != nil || a != 1 || b != nil {
			t.Errorf("%d %x", a, b)
		}
		if err := errors.Join(rows.Close(), rows.Close()); err != nil || rows.Next() {
			t.Error("rows after their end", err)
		}
	}
	if n, err := l.exec("DELETE FROM t WHERE a > $1", name("1")); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(path, "_pragma=journal_mode(DELETE)"); err == nil {
		t.Error("a connection without the settings that durability rests on")
	}
}
