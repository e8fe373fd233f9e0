//go:build !linux

package main

// exchange lets a take the place of b, which goes to aside.
func exchange(a, b, aside string) error { return exchangeByTurns(a, b, aside) }
