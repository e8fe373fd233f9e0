package site

import (
	"fmt"
	"strings"

	"github.com/streamgauge/streamgauge/rollup"
)

// llmsFiles is llms.txt, as https://llmstxt.org has it: where a program that
// reads text finds the numbers, and what it must not make of them. It says
// nothing that a provider can choose the words of: names of models are read as
// instructions by some who read this file.
func (e *edition) llmsFiles() ([]file, error) {
	return []file{{"llms.txt", func() ([]byte, error) { return []byte(e.llms()), nil }}}, nil
}

func (e *edition) llms() string {
	root := ""
	if e.base != nil {
		root = e.base.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", legible(e.in.Config.Name, maxName))
	b.WriteString("> Measured speed and reliability of hosted language models, on a schedule, with intervals. Every number can be derived again from the published dataset.\n\n")
	if e.in.Simulated {
		b.WriteString("All data of this build is simulated: no number here says anything of a real provider.\n\n")
	}
	fmt.Fprintf(&b, "Built %s from %s. How to read the numbers:\n\n", iso(e.now), plural(len(e.endpoints), "endpoint"))
	for _, line := range []string{
		"Decode speed (decode_tps) is output tokens a second after the first one. First token (ttft_ms) is the time from sending the request to the first visible text.",
		"A rank is a range: endpoints whose ranges overlap cannot be told apart by these data. The order of rows alone is no rank.",
		"A number that is null is unknown, with the reason beside it. It is not zero.",
		"Quote a number with its interval, its window and the date it was built.",
	} {
		b.WriteString("- " + line + "\n")
	}
	section := func(title string, links ...[3]string) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		for _, l := range links {
			fmt.Fprintf(&b, "- [%s](%s%s): %s\n", l[0], root, l[1], l[2])
		}
	}
	board := e.in.Config.RankBy
	section("Data",
		[3]string{"Leaderboard", apiBoardPath(rollup.Window7d, board), "7 days, as JSON"},
		[3]string{"API index", apiPath + "index.json", "all leaderboards, series, providers, events, incidents and schemas; " + lowerFirst(apiStability)},
		[3]string{"Series", apiPath + "pairs.json", "every endpoint with the path of its file"},
		[3]string{"Events", EventsPath, "lasting changes with date, size and evidence"},
		[3]string{"Incidents", incidentsPath, "when an endpoint or a provider was down or degraded"},
		[3]string{"Dataset", datasetPath, "every sample as SQLite, with a dictionary; licence and citation"})
	section("Method",
		[3]string{"Methodology", "methodology/", "what is measured, how, and what is not claimed"},
		[3]string{"Reading the numbers", prosePath(guidePrefix + "reading"), "a guide"},
		[3]string{"Changelog", prosePath(methodProse), "what each version of the method changed"})
	section("Optional",
		[3]string{"About", "about/", "who runs this and who pays"},
		[3]string{"Changes", "changes/", "what changed lately, in words"})
	return b.String()
}
