package site

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how many characters of a name are shown. The dataset and the API
// hold all of it.
const maxName = 80

// display makes a name that came from outside harmless to look at, and short.
func display(name string) string {
	if text := legible(name, maxName); text != "" {
		return text
	}
	return "(no name)"
}

// legible makes text that came from outside harmless to look at: characters that
// print nothing or reorder their neighbours become U+FFFD, white space becomes
// one space, and what is longer than limit characters is cut. Escaping is the
// template's.
func legible(text string, limit int) string {
	var b strings.Builder
	n := 0
	space := false
	for _, r := range strings.TrimSpace(text) {
		if n == limit {
			b.WriteString("…")
			break
		}
		if unicode.IsSpace(r) {
			if space {
				continue
			}
			space, r = true, ' '
		} else {
			space = false
		}
		if r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// cell makes text safe to open in a spreadsheet, which runs what begins like a
// formula. Numbers are not passed through it.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// maxCommand is the longest command that is offered for copying.
const maxCommand = 500

// command returns a command as it may be offered for copying: one line of
// printable text, or nothing. A command that cannot be seen whole must not be
// pasted into a shell.
func command(text string) string {
	if len(text) > maxCommand || !utf8.ValidString(text) {
		return ""
	}
	for _, r := range text {
		if !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) {
			return ""
		}
	}
	return text
}
