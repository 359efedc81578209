package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"sayso/jwk"
)

// A token is a prefix that says whose it is, for people and for scanners of leaked secrets, and 32 random bytes in base64url. Its id begins with t- and is
// no secret.
const (
	operatorPrefix = "sayso-operator-"
	ownerPrefix    = "sayso-owner-"
	tokenIDPrefix  = "t-"
)

// NewToken is a token that was just made. Token is shown once; the store keeps its SHA-256.
type NewToken struct {
	Token  string   `json:"token"`
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Scopes []string `json:"scopes,omitempty"`
}

func newToken(prefix string, now time.Time, name string) (secret string, row *TokenRow) {
	var random [40]byte
	rand.Read(random[:]) // never fails
	secret = prefix + jwk.EncodeBase64URL(random[:32])
	return secret, &TokenRow{Hash: sha256.Sum256([]byte(secret)), ID: tokenIDPrefix + hex.EncodeToString(random[32:]), Name: name, CreatedAt: now}
}

// CreateToken makes a token of a publisher. An owner gives at most the scopes its own token has, and revoking that token revokes the new one too.
func (r *Registry) CreateToken(ctx context.Context, actor Actor, slug, name string, scopes []string, operation string) (*NewToken, error) {
	if err := plainText("name", name, false); err != nil {
		return nil, err
	}
	scopes = slices.Compact(slices.Sorted(slices.Values(scopes)))
	if len(scopes) == 0 || slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(Scopes, s) }) {
		return nil, invalid("invalid_scope", "a token has one or more of the scopes import, publish, keys, live")
	}
	for _, s := range scopes {
		if actor.role == roleOwner && actor.publisher == slug && !slices.Contains(actor.scopes, s) {
			return nil, refusal(KindForbidden, "scope_missing", "the token does not have the scope %s and cannot give it", s)
		}
	}
	return r.createToken(ctx, actor, act{op: OpCreateToken, slug: slug, operation: operation}, ownerPrefix, name, scopes)
}

// CreateOperatorToken makes a token of an operator.
func (r *Registry) CreateOperatorToken(ctx context.Context, actor Actor, name, operation string) (*NewToken, error) {
	if !label.MatchString(name) {
		return nil, invalid("invalid_operator", "an operator's name has 1 to 64 characters of A-Z a-z 0-9 . _ @ - and begins with a letter or digit")
	}
	return r.createToken(ctx, actor, act{op: OpCreateOperatorToken, operation: operation}, operatorPrefix, name, nil)
}

func (r *Registry) createToken(ctx context.Context, actor Actor, a act, prefix, name string, scopes []string) (*NewToken, error) {
	secret, row := newToken(prefix, r.Now(), name)
	row.Publisher, row.Scopes = a.slug, scopes
	if actor.hash != [32]byte{} {
		row.Parent = actor.id
	}
	a.target = row.ID
	a.made = func(rd Reader) error {
		_, err := rd.Token(ctx, row.Hash)
		return err
	}
	receipt, err := r.commit(ctx, actor, a, func(c *change) error {
		rows, err := c.Tokens(ctx, a.slug)
		if err != nil {
			return err
		}
		live := len(slices.DeleteFunc(rows, func(t TokenRow) bool { return !t.RevokedAt.IsZero() }))
		if c.row != nil && live >= c.row.Quota.tokens() {
			return refusal(KindLimit, "token_quota", "%s has %s, which is its quota", a.slug, counted(live, "token")).next("revoke tokens that are not used")
		}
		row.CreatedAt = c.at
		return c.PutToken(ctx, row)
	})
	if err != nil {
		return nil, err
	}
	if receipt.Repeated {
		return nil, refusal(KindConflict, "operation_done", "this operation made a token before, and a token is shown once").next("revoke that token and make another under a new operation")
	}
	return &NewToken{Token: secret, ID: row.ID, Name: name, Scopes: scopes}, nil
}

// RevokeToken ends a token of a publisher and all that were made with it. An owner ends its own token and those made with it; other tokens look unknown to it.
func (r *Registry) RevokeToken(ctx context.Context, actor Actor, slug, id, operation string) (*Receipt, error) {
	return r.revokeToken(ctx, actor, act{op: OpRevokeToken, slug: slug, operation: operation, target: id, final: true})
}

// RevokeOperatorToken ends a token of an operator and all operators' tokens that were made with it. The tokens that it made for publishers stay: they are the
// businesses' own, and name it as their parent.
func (r *Registry) RevokeOperatorToken(ctx context.Context, actor Actor, id, operation string) (*Receipt, error) {
	return r.revokeToken(ctx, actor, act{op: OpRevokeOperatorToken, operation: operation, target: id})
}

func (r *Registry) revokeToken(ctx context.Context, actor Actor, a act) (*Receipt, error) {
	return r.commit(ctx, actor, a, func(c *change) error {
		rows, err := c.Tokens(ctx, a.slug)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(rows, func(t TokenRow) bool { return t.ID == a.target })
		made := makersOf(rows)
		if !known || actor.role == roleOwner && !made.descends(a.target, actor.id) {
			return refusal(KindNotFound, "unknown_token", "there is no such token").next("list the tokens")
		}
		for i := range rows {
			if rows[i].RevokedAt.IsZero() && made.descends(rows[i].ID, a.target) {
				rows[i].RevokedAt = c.at
				if err := c.PutToken(ctx, &rows[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// makers says for the id of each token which one it was made with, "" for none.
type makers map[string]string

func makersOf(rows []TokenRow) makers {
	m := make(makers, len(rows))
	for i := range rows {
		m[rows[i].ID] = rows[i].Parent
	}
	return m
}

// descends reports whether a token is another one or was made with it, over any number of steps.
func (m makers) descends(id, ancestor string) bool {
	for range len(m) + 1 {
		switch {
		case id == ancestor:
			return true
		case m[id] == "":
			return false
		}
		id = m[id]
	}
	return false
}

// origin is the token that a token leads back to and that no other token made.
func (m makers) origin(id string) string {
	for range len(m) {
		if m[id] == "" {
			break
		}
		id = m[id]
	}
	return id
}
