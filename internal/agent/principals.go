package agent

import (
	"context"
	"slices"

	"sayso/internal/agent/durable"
	"sayso/internal/app"
)

// Several principals may keep their interests in one data folder. What is read of them can be narrowed to some of them, named by their principal_ref; that is a view and no
// protection, since whoever may read the folder reads all of it. A ref lies sealed in the documents; rows are told apart by a keyed digest of it.

// Principals lists the principal_ref of every interest, each once, in order.
func (a *Agent) Principals(ctx context.Context) ([]string, error) {
	var out []string
	err := a.Store.View(ctx, func(r durable.Reader) error {
		out = []string{}
		rows, err := r.Interests(ctx)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, row := range rows {
			if seen[row.Principal] {
				continue
			}
			seen[row.Principal] = true
			h, err := a.open(row)
			if err != nil {
				return err
			}
			out = append(out, h.Principal())
		}
		return nil
	})
	slices.Sort(out)
	return out, outward(err)
}

// choice is a set of interests by their ids; nil is all of them.
type choice map[string]bool

func (c choice) has(id string) bool { return c == nil || c[id] }

// interestsOf are the interests of some principals, all when none is named.
func (a *Agent) interestsOf(ctx context.Context, r durable.Reader, principals []string) (choice, error) {
	if len(principals) == 0 {
		return nil, nil
	}
	rows, err := r.Interests(ctx)
	if err != nil {
		return nil, err
	}
	out := choice{}
	for _, ref := range principals {
		own := a.principal(ref)
		known := false
		for _, row := range rows {
			if row.Principal == own {
				out[row.ID], known = true, true
			}
		}
		if !known {
			return nil, refuse(app.KindNotFound, "unknown_principal", "no interest here has this principal_ref", "list the principals: sayso interest list")
		}
	}
	return out, nil
}
