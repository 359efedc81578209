package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"

	"modernc.org/sqlite"
)

// lasting is one connection of the driver with statements that are read once. There is no database/sql around it: for a statement of one row its pool, its locks and its
// conversions take as long as the statement. It serves one goroutine at a time, and no statement is interrupted.
type lasting struct {
	conn       driver.Conn
	statements map[string]driver.Stmt
	args       []driver.NamedValue // of the statement that begins, used again
}

// connect opens a connection with the settings that durability rests on.
func connect(path string, options ...string) (*lasting, error) {
	conn, err := (&sqlite.Driver{}).Open(dataSource(path, options...))
	if err != nil {
		return nil, err
	}
	l := &lasting{conn: conn, statements: map[string]driver.Stmt{}}
	err = settings(context.Background(), func(pragma string) (value string, _ error) {
		rows, err := l.query(pragma)
		if err != nil {
			return "", err
		}
		defer rows.Close()
		if rows.Next() {
			value = fmt.Sprint(rows.row[0])
		}
		return value, rows.Err()
	})
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// close ends the connection, and with it whatever was open on it.
func (l *lasting) close() error {
	var errs []error
	for _, statement := range l.statements {
		errs = append(errs, statement.Close())
	}
	return errors.Join(append(errs, l.conn.Close())...)
}

// prepare finds a statement that was read before, or reads it, and puts its arguments in order.
func (l *lasting) prepare(query string, args []any) (driver.Stmt, []driver.NamedValue, error) {
	statement := l.statements[query]
	if statement == nil {
		var err error
		if statement, err = l.conn.Prepare(numbered(query)); err != nil {
			return nil, nil, err
		}
		l.statements[query] = statement
	}
	l.args = l.args[:0]
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
		l.args = append(l.args, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return statement, l.args, nil
}

// exec runs a statement and returns how many rows it changed.
func (l *lasting) exec(query string, args ...any) (int64, error) {
	statement, values, err := l.prepare(query, args)
	if err != nil {
		return 0, err
	}
	result, err := statement.(driver.StmtExecContext).ExecContext(context.Background(), values)
	clear(values)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (l *lasting) query(query string, args ...any) (*cursor, error) {
	statement, values, err := l.prepare(query, args)
	if err != nil {
		return nil, err
	}
	rows, err := statement.(driver.StmtQueryContext).QueryContext(context.Background(), values)
	clear(values)
	if err != nil {
		return nil, err
	}
	return &cursor{rows: rows, row: make([]driver.Value, len(rows.Columns()))}, nil
}

// cursor is store.Rows over rows of the driver, which copies what it reads.
type cursor struct {
	rows   driver.Rows
	row    []driver.Value
	err    error
	closed bool
}

func (c *cursor) Next() bool {
	if c.closed || c.err != nil {
		return false
	}
	switch err := c.rows.Next(c.row); {
	case err == nil:
		return true
	case !errors.Is(err, io.EOF):
		c.err = err
	}
	c.err = errors.Join(c.err, c.Close())
	return false
}

func (c *cursor) Scan(dst ...any) error {
	if len(dst) != len(c.row) {
		return fmt.Errorf("%d columns are read into %d places", len(c.row), len(dst))
	}
	for i, value := range c.row {
		if err := assign(dst[i], value); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *cursor) Err() error { return c.err }

func (c *cursor) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	return c.rows.Close()
}

// assign puts a value of SQLite where it is scanned to. Nothing is converted between text and numbers, which a strict table never asks for.
func assign(dst any, value driver.Value) error {
	switch d := dst.(type) {
	case *string:
		if text, ok := value.(string); ok {
			*d = text
			return nil
		}
	case *[]byte:
		switch v := value.(type) {
		case []byte:
			*d = v
			return nil
		case string:
			*d = []byte(v)
			return nil
		}
	case *int64:
		if n, ok := value.(int64); ok {
			*d = n
			return nil
		}
	case **int64:
		if n, ok := value.(int64); ok {
			*d = &n
			return nil
		}
	case sql.Scanner:
		return d.Scan(value)
	}
	to := reflect.ValueOf(dst)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("a %T is no place for it", dst)
	}
	return assignKind(to.Elem(), value)
}

func assignKind(to reflect.Value, value driver.Value) error {
	kind := to.Kind()
	bytes := kind == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8
	switch v := value.(type) {
	case nil:
		if kind == reflect.Pointer || bytes {
			to.SetZero()
			return nil
		}
	case string:
		if kind == reflect.String {
			to.SetString(v)
			return nil
		}
	case []byte:
		if bytes {
			to.SetBytes(v)
			return nil
		}
	case int64:
		switch {
		case to.CanInt() && !to.OverflowInt(v):
			to.SetInt(v)
			return nil
		case to.CanUint() && v >= 0 && !to.OverflowUint(uint64(v)):
			to.SetUint(uint64(v))
			return nil
		case kind == reflect.Bool && (v == 0 || v == 1):
			to.SetBool(v == 1)
			return nil
		}
	}
	if kind == reflect.Pointer && value != nil {
		made := reflect.New(to.Type().Elem())
		to.Set(made)
		return assign(made.Interface(), value)
	}
	return fmt.Errorf("a value of type %T does not fit a %s", value, to.Type())
}
