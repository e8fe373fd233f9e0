// Package providers holds the provider files that the program ships with, one
// YAML file each, and the prices that stand in for models.dev when it cannot be
// read. A fork adds a provider with one more file and no code.
package providers

import "embed"

// Files are the shipped provider files, *.yaml at the root, and the certificates
// that they may name, in certs.
//
//go:embed *.yaml certs
var Files embed.FS

// ModelsDev is a small copy of models.dev's api.json (MIT licence), with the
// models of the shipped files alone. Its first key tells of when it is.
//
//go:embed models.dev.json
var ModelsDev []byte

// PTU is the table by which Azure sizes provisioned throughput, as of the date
// in it. Such tables age: "streamgauge estimate --ptu FILE" takes another.
//
//go:embed ptu.json
var PTU []byte
