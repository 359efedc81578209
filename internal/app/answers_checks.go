package app

import (
	"bytes"
	"context"

	"sayso/business"
	"sayso/jcs"
)

// scopes are the attributes of records that hold per location.
type scopes map[string]bool

func scopesOf(schema *business.Schema) scopes {
	out := scopes{}
	if schema != nil {
		for name, a := range schema.Attributes {
			if a.ScopedBy != "" {
				out[name] = true
			}
		}
	}
	return out
}

func scopesIn(text jcs.Raw) (scopes, error) {
	if len(text) == 0 {
		return scopes{}, nil
	}
	schema, err := business.ParseSchema(text)
	return scopesOf(schema), err
}

// answerable refuses content that could not be compiled, and so not be answered from (answers §2.1). The readers of documents and records have checked all of
// it but one thing, which takes a schema and records of two acts: that an attribute which the schema now scopes is an object of locations in every record.
// Records are read again only when the schema scopes one that they were not read against.
func (c *change) answerable(ctx context.Context) error {
	if c.records == nil && bytes.Equal(c.was.Schema, c.row.Schema) {
		return nil
	}
	now, err := scopesIn(c.row.Schema)
	if err != nil || len(now) == 0 {
		return err
	}
	before := c.records
	if before == nil {
		if before, err = scopesIn(c.was.Schema); err != nil {
			return err
		}
	}
	for name := range before {
		delete(now, name)
	}
	if len(now) == 0 {
		return nil
	}
	for row, err := range c.Records(ctx, c.row.Slug, "", "", "") {
		if err != nil {
			return err
		}
		if err := now.check(row); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a record that states one of the attributes otherwise than per location.
func (s scopes) check(row RecordRow) error {
	record, err := decodeRecord(row)
	if err != nil || record.Attributes == nil {
		return err
	}
	members, err := business.Members(record.Attributes)
	if err != nil {
		return err
	}
	for _, m := range members {
		if !s[m.Name] {
			continue
		}
		if _, err := business.Members(m.Value); err != nil {
			return invalid("attribute_not_scoped", "the schema says that %s holds per location, and the record %s states one value; nothing was changed",
				m.Name, business.EntityKey(row.Type, row.ID)).next("import the records again together with the schema, with an object of locations as value")
		}
	}
	return nil
}

// readAgainst notes which attributes were read as per location in all records that stand after an import; kept are those it did not read itself.
func (c *change) readAgainst(read scopes, kept int) error {
	c.records = read
	if kept == 0 {
		return nil
	}
	stored, err := scopesIn(c.was.Schema)
	if err != nil {
		return err
	}
	c.records = scopes{}
	for name := range read {
		if stored[name] {
			c.records[name] = true
		}
	}
	return nil
}
