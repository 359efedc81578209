// Package profile reads the profiles of GIDP (§21; sec. 13): what is asked about in one domain, which attributes identify, into which cells a protected number
// falls, which labels contain which, and what has to be asked before an Opportunity means something.
//
// A profile is data. The core is given a [gidp.Profile] and never learns which domain it serves; a domain is added by writing a file, not code. Five profiles
// and two hierarchies are part of the program ([Shipped]); [Set.With] adds others.
//
// # What is refused
//
// A profile is read as a whole or not at all. It cannot add a member, an operator, a result or another value of the protocol's closed lists, weaken an
// identifying attribute, move a key of core, name a direction in a relation, or let an absent attribute answer anything but unknown or declined.
//
// # Partitions
//
// The cells of a partition have equal mass under a prior that the profile states, up to the snapping of the edges to round figures (Q-1, [Prior.Edges]). The
// masses and the worst case in bits are computed from the edges as they are, and a file that states others is refused. A partition never changes under
// its id, and two versions of one quantity are a coarsening and a refinement of each other. Edges are stated figures: there is neither offset nor secret
// . Attributes of one quantity share its partition, in every profile of a set.
package profile
