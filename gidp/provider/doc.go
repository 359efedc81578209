// Package provider is a discovery provider of GIDP 0.1 (§12): an index of projections in memory, and the rules under which it takes, returns and forgets them.
// It knows no clock, network, disk or randomness; all of them are parameters.
//
// # Truth and index
//
// The durable row is the truth. [Provider.Publish], [Provider.Update] and [Provider.Withdraw] judge a request and return a [Row]; who keeps the rows commits it
// and then gives it to [Provider.Apply]. A replica applies the rows of its feed, and a restart builds the index from all of them ([New]); the three are
// one path. Rows may come twice and in any order: the highest revision wins and a withdrawal is final.
//
// # What matches
//
// A dimension is an attribute that projections are found by. A projection and a query agree on a dimension when a label of the one equals, contains or lies in
// a label of the other (P-7). They match when they agree on every dimension that both name, and on at least one that the query narrows, which is one whose labels all
// lie below the root of their hierarchy (P-8). Reading: to say nothing about a dimension is its coarsest value and contains every other; a strict reading would hide
// two compatible interests from each other because each says something that the other keeps to itself.
//
// A match is a reason to ask and nothing more: no score, no total, no order (§12.4, P-12). The order of the candidates is random for each query.
//
// # Who publishes
//
// A publisher is a key, one for each projection (P-2). The index holds its thumbprint, and neither projection_id nor interest_ref. A second publication under one key
// updates the first, so that an answer lost on the way can be asked for again; a key whose projection was withdrawn, and an endpoint that another
// projection has, are refused (P-3).
//
// # What a querent can see
//
// At most the candidates of its quota in an hour, times twenty for one network; nothing returns the index in bulk. Expiry is checked when a projection is
// returned, withdrawal takes effect with Apply, and a replica that has not heard from its feed within the published latency answers nothing (P-5, P-6).
package provider
