// Sayso publishes, reads and checks statements that name who says so. `sayso help` lists the commands; package internal/cli is their manual.
package main

import (
	"os"

	"sayso/internal/cli"
)

func main() { os.Exit(cli.Main()) }
