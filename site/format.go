package site

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The one place where a number becomes text. JavaScript never formats a
// published number: it moves rows about.

// absent stands where a number is missing; the reason stands beside it.
const absent = "—"

// significant returns v with at most digits significant digits and no more
// decimals than that needs: 211, 84.3, 9.07. Thousands are grouped.
func significant(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return absent
	}
	if v == 0 {
		return "0"
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	decimals := digits - 1 - int(math.Floor(math.Log10(math.Abs(rounded))))
	return group(strconv.FormatFloat(rounded, 'f', max(decimals, 0), 64))
}

// group puts a comma between the thousands of a decimal number.
func group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// Rate formats tokens per second.
func rate(tps float64) string { return significant(tps, 3) }

// latency formats milliseconds: whole ones under a second, seconds above.
func latency(ms float64) string {
	if math.Round(ms) < 1000 {
		return strconv.FormatFloat(math.Round(ms), 'f', 0, 64) + " ms"
	}
	return significant(ms/1000, 3) + " s"
}

// percent formats a share of 1 in percent with one decimal, but 0 and 100
// without. A share that is neither never rounds to them.
func percent(share float64) string {
	p := math.Round(share*1000) / 10
	switch {
	case p >= 100 && share < 1:
		p = 99.9
	case p <= 0 && share > 0:
		p = 0.1
	}
	if p == 0 || p == 100 {
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
	return strconv.FormatFloat(p, 'f', 1, 64)
}

// signedPercent formats a relative change: +4.2 %, −14 %.
func signedPercent(change float64) string {
	s := significant(math.Abs(change)*100, 2) + " %"
	if change < 0 {
		return "−" + s
	}
	return "+" + s
}

// count formats a whole number.
func count(n int) string { return group(strconv.Itoa(n)) }

// plural returns "1 run" or "3 runs".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// words spells a small number, as prose does.
func words(n int) string {
	small := [...]string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n >= 0 && n < len(small) {
		return small[n]
	}
	return count(n)
}

// capital returns s with its first letter in upper case; s is ours, ASCII.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lowerFirst returns s with its first letter in lower case; s is ours, ASCII.
func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// age formats how long ago something was, coarsely.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// ago formats how long ago something was, for a sentence.
func ago(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	return age(d) + " ago"
}

// span formats a duration in its largest fitting unit: "10 min", "6 h".
func span(d time.Duration) string {
	switch {
	case d%(24*time.Hour) == 0 && d >= 48*time.Hour:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.String()
}

// size formats a file size in decimal units.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return significant(float64(n)/1e3, 3) + " KB"
	case n < 1_000_000_000:
		return significant(float64(n)/1e6, 3) + " MB"
	}
	return significant(float64(n)/1e9, 3) + " GB"
}

// price formats US dollars per million tokens.
func price(usd float64) string {
	if usd == 0 {
		return "free"
	}
	return strconv.FormatFloat(usd, 'f', 2, 64)
}

// instant formats a UTC time for people, to the minute.
func instant(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04") + " UTC" }

// day formats a UTC date for people.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// iso formats a UTC time for machines.
func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// plain formats a number for machines: six significant digits, no grouping.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
