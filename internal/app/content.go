package app

import (
	"context"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// settle writes the publisher's row. When content may have changed it hashes the small documents anew, takes the stored leaves of the records, and adds a
// generation only when the fold of all of them is another one.
func (c *change) settle(ctx context.Context) error {
	if c.content {
		if err := c.answerable(ctx); err != nil {
			return err
		}
		hash, newest, err := contentHash(ctx, c, c.row)
		if err != nil {
			return err
		}
		c.row.DataUpdated = newest
		if c.receipt.Unchanged = hash == c.row.ContentHash; !c.receipt.Unchanged {
			c.row.ContentHash, c.row.ChangedAt = hash, c.at
			c.row.Generation++
			if err := c.forget(ctx); err != nil {
				return err
			}
		}
	}
	return c.UpdatePublisher(ctx, c.row)
}

// contentHash folds the leaves of everything a publisher publishes and returns the newest updated_at of its records.
func contentHash(ctx context.Context, rd Reader, row *PublisherRow) (hash string, newest time.Time, err error) {
	leaves, err := documentLeaves(row)
	if err != nil {
		return "", time.Time{}, err
	}
	for record, err := range rd.Leaves(ctx, row.Slug) {
		if err != nil {
			return "", time.Time{}, err
		}
		leaves = append(leaves, record.Leaf)
		if record.UpdatedAt.After(newest) {
			newest = record.UpdatedAt
		}
	}
	return business.ContentHash(leaves), newest, nil
}

// documentLeaves hashes the profile with its locations, the schema and the calendar of a row.
func documentLeaves(row *PublisherRow) ([]business.Leaf, error) {
	profile, err := decodeProfile(row.Profile)
	if err != nil {
		return nil, err
	}
	leaves, err := business.ProfileLeaves(row.Slug, row.Region, profile)
	if err != nil {
		return nil, err
	}
	for _, doc := range []struct {
		tag  string
		text jcs.Raw
	}{{"schema", row.Schema}, {"calendar", row.Calendar}} {
		if doc.text == nil {
			continue
		}
		leaf, err := business.DocumentLeaf(doc.tag, doc.text)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, leaf)
	}
	return leaves, nil
}

func decodeProfile(text jcs.Raw) (*business.Profile, error) {
	var p business.Profile
	if err := business.Decode(text, &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// decodeRecord reads a record as it is stored: as its business states it, without url and publisher.
func decodeRecord(row RecordRow) (*business.Record, error) {
	var r business.Record
	if err := business.Decode(row.Body, &r); err != nil {
		return nil, err
	}
	return &r, nil
}
