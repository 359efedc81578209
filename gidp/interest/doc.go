// Package interest is the Standing Interest of GIDP (§9) with its private values. It belongs to the side that owns them: what talks to a peer receives a
// [gidp.View] and never an [Interest], and package session does not import this one.
//
// Four things leave an Interest, each by its own function: the View of one session ([Interest.View]), a projection for a provider ([Interest.Project]), the
// verdict on a claim that this side wants to send ([Interest.Vet]), and the value of a disclosure that the session has granted ([Interest.Value]).
package interest
