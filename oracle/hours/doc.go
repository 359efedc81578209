// Package hours compares package business/hours with npm opening_hours, the reference reader of OpenStreetMap's notation, at every change of either
// over a year: on real values and on generated ones. Where both read a value differently on purpose, the test names the reading and counts the values.
package hours
