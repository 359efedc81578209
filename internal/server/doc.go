// Package server runs the two listeners of a sayso server around handlers it is given.
//
// The public listener serves one handler behind limits: a request line and header of at most 16 KiB (431), five seconds for the header, bodies of at most
// 1 MiB unless the route says less, a rate limit by client address on the routes that are computed (429 with Retry-After), and a recovery that turns a panic
// into a 500 body, or closes the connection when an answer had begun. Every answer carries an X-Request-Id that the log repeats. /livez, /readyz and /metrics do not exist there.
//
// The private listener serves /livez (the process answers), /readyz (every check with its level; 503 when one failed) and /metrics, and 404 otherwise. It
// answers for localhost, IP addresses and Options.PrivateHosts only, 403 otherwise: another page's name that is made to lead here must not read it.
//
// A Reloader is polled every two seconds and asked at once on Reload: a change is loaded when it has been still for one interval. A refused reload changes
// nothing but /readyz, which shows the reason as a warning while the old state keeps serving.
//
// Metric labels are closed sets: route pattern, status class. No key, address or publisher text is ever a label.
package server
