package bench

import "github.com/streamgauge/streamgauge/bench/wire"

// PromptVersion names the text of [Prompt]. It rises with every change of it.
const PromptVersion = 1

// promptText asks for more words than MaxOutputTokens allows, so that nearly
// every answer runs into the cap and answers are of comparable length.
const promptText = "Explain in about 400 words of plain prose, without headings, lists or code, " +
	"how an HTTP request is routed from a browser to the program that answers it: " +
	"name resolution, connection, proxies and load balancers, and the routing inside the server."

// Prompt returns the fixed prompt. A non-empty nonce is put first, so that no
// cache keyed on the body or its beginning can answer.
func Prompt(nonce string) wire.Prompt {
	text := promptText
	if nonce != "" {
		text = nonce + ". " + text
	}
	return wire.Prompt{Text: text, MaxOutputTokens: MaxOutputTokens}
}
