package factscheck

// RunWith is Run with another way to the source pages.
var RunWith = run

// LastEvent is the reader of event streams.
var LastEvent = lastEvent
