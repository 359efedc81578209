package jwk

// SetWorkFactor lowers the cost of sealing for tests and returns the value before.
func SetWorkFactor(n int) int {
	before := workFactor
	workFactor = n
	return before
}
