package site

import (
	"cmp"
	"math"
	"slices"

	"github.com/streamgauge/streamgauge/site/svg"
)

// phonePoints is how many points a line has at most on a phone, where more would
// fall on the same pixels.
const phonePoints = 300

// thin returns about most points that look like all of them. Neighbours are
// taken together: of single values the least and the greatest stay, so that no
// spike is lost; of values with a band the middle one stays, with the band of
// all. Gaps stay where they are.
func thin(points []svg.Point, most int) []svg.Point {
	if len(points) <= most {
		return points
	}
	banded := slices.ContainsFunc(points, func(p svg.Point) bool { return !math.IsNaN(p.Lo) })
	size := (len(points) + most - 1) / most
	if !banded {
		size *= 2
	}
	var out []svg.Point
	for from := 0; from < len(points); {
		to := from
		for to < len(points) && to < from+size && !math.IsNaN(points[to].Y) {
			to++
		}
		if to == from { // a gap
			out = append(out, points[from])
			from++
			continue
		}
		out = appendThinned(out, points[from:to], banded)
		from = to
	}
	return out
}

func appendThinned(out, group []svg.Point, banded bool) []svg.Point {
	order := slices.Clone(group)
	slices.SortStableFunc(order, func(a, b svg.Point) int { return cmp.Compare(a.Y, b.Y) })
	least, greatest := order[0], order[len(order)-1]
	switch {
	case banded:
		middle := order[(len(order)-1)/2]
		middle.At = group[len(group)/2].At
		for _, p := range group {
			middle.Lo, middle.Hi = min(middle.Lo, p.Lo), max(middle.Hi, p.Hi)
		}
		return append(out, middle)
	case len(group) == 1:
		return append(out, least)
	case least.At.After(greatest.At):
		return append(out, greatest, least)
	}
	return append(out, least, greatest)
}
