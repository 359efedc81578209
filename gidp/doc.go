// Package gidp is the core of GIDP 0.1, the Graduated Interest Disclosure Protocol: policy classes, authority, the cells that stand for private values, the
// evaluation of claims over them, and the arithmetic of the ledger.
//
// # Rooms
//
//   - package wire: the twelve transmitted objects and their strict codec;
//   - package gidp (this one): what a session may know of an interest, and what it answers to a claim;
//   - package interest: the Standing Interest with its private values, which never leave their owner; it derives a [View], a projection, and the value of an
//     approved disclosure;
//   - package session: the session as a step function over a View.
//
// # Who sees what
//
// A [View] carries cells, labels on a public cut, classes and permissions. It carries a value only where the policy lets that value be told on request at
// this depth to this counterparty. Packages gidp and session do not import package interest, so that no code that talks to a peer can hold a protected value.
//
// # What an observer can learn
//
// Every answer to a claim on a partitioned attribute is a function of the claim and of the cell the value lies in. So whatever is asked, by whomever, in any
// number of sessions, the answers tell at most which cell it is: log2 of the number of cells, and for one value at most -log2 of the mass of its cell. A
// definite answer is given only when it is true of every value of the cell; the rest is answered unknown, which §15.5 permits. The bound covers answers, not
// approvals, disclosed values, timing, correlated attributes, or a value that moves to another cell.
package gidp
