// Package demo makes a sample publisher of figures and a registry with sample businesses, and walks a newcomer through both, and through a search of two agents
// for each other.
//
// # The sample figures
//
// Prepare joins sample folders of figures into one publisher's folder whose publisher.url is the origin it is served at: namespaces and areas one after the
// other, topics as they are, confirmations with their dates, the changelog in order of days and linked anew. It then signs every value, as a publisher
// would. A folder that exists is kept as it is; only the origin is brought up to date, and the values are signed again when it changed, because the origin
// is part of every signature.
//
// # The sample businesses
//
// OpenRegistry makes a registry in the data folder, or opens the one that an earlier demonstration made there; it knows it by the name of its first operator.
// A registry with publishers that no demonstration made is refused. Fill imports the bundles, has two operators verify them under the decision "demo", and
// publishes them; brightwater-opticians also proves brightwater.example in a DNS server on loopback that ends with the demonstration. A publisher that is there
// is kept as it is. An origin stands in no signature of a registry that lasts, so that nothing has to be signed again when it changes. Where the origin is on
// this machine, SLUG.localhost reaches each business under a host of its own.
//
// # The keys
//
// Figures and registry share one folder of keys and its one sealing identity, under the user's passphrase or, when there is none, in the file seal.key beside
// the keys (package internal/keyfile); the latter keeps keys from being copied by accident and from nothing else. SigningKey keeps the key of the figures in
// facts.key. A folder from before there were registries, with a key in facts.age, is taken over with that key.
//
// # The walk
//
// Walk, WalkRegistry, WalkAnswers and WalkGIDP run every step against running servers over HTTP, and run commands of the program itself; nothing is acted. A
// step shows the request, the telling part of the answer as it was received, and one sentence on why it matters. It has a problem when the answer is not what
// the sentence says.
//
// WalkRegistry changes what it walks through, so it takes a publisher of its own from creation to withdrawal: demo-shop, and demo-shop-2 and so on in a kept
// folder, because names are never used again. It acts through the admin API with an operator's token that ends with the walk, and a token of the business
// made with it, and shows neither whole.
//
// WalkAnswers pushes readings of a shelf to hammer-and-nail, and asks the samples one question of each kind: with the reader of package bizhttp against the
// pinned root, with a plain POST, at the front door, and once with an answer that was changed. What an answer has to be is part of each question. In a kept
// folder, a sample that somebody paused or edited answers otherwise, and the walk says so.
//
// WalkGIDP is given a discovery provider and two agents that serve, each from a data folder of its own. It acts by commands of the program on these folders, as
// principals would, and shows what crossed as a Wire captured it on the listeners, below HTTP. Each walk states new interests and revokes them at its end; those
// that an interrupted walk left are revoked first. Then a stranger that is driven by hand, with keys and sessions of its own, asks for the seller's least price:
// answered from its cell, declined, and under a budget. What it learns is computed from the answers that it got. What plain answers would tell is the figure of
// sayso lab, because no agent here gives them.
package demo
