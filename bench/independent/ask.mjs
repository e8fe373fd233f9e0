// Asks a provider once, as the library's documentation does, and prints what the
// library made of the stream as one line of JSON.
//
//	node ask.mjs chat|responses BASE MODEL TOKENS
import OpenAI from "openai";

const [api, baseURL, model, tokens] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
const told = { text: "", finish: "", output: 0, reasoning: 0, events: 0, error: "", status: 0 };

async function chat() {
  const stream = await client.chat.completions.create({
    model,
    messages: [{ role: "user", content: "Write." }],
    max_completion_tokens: Number(tokens),
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) {
    told.events++;
    told.text += chunk.choices[0]?.delta?.content ?? "";
    told.finish = chunk.choices[0]?.finish_reason ?? told.finish;
    told.output = chunk.usage?.completion_tokens ?? told.output;
    told.reasoning = chunk.usage?.completion_tokens_details?.reasoning_tokens ?? told.reasoning;
  }
}

async function responses() {
  const stream = await client.responses.create({ model, input: "Write.", max_output_tokens: Number(tokens), stream: true });
  for await (const event of stream) {
    told.events++;
    if (event.type === "response.output_text.delta") told.text += event.delta;
    if (event.type === "response.completed" || event.type === "response.incomplete") {
      const why = event.response.incomplete_details?.reason;
      told.finish = event.response.status + (why ? ":" + why : "");
      told.output = event.response.usage?.output_tokens ?? 0;
      told.reasoning = event.response.usage?.output_tokens_details?.reasoning_tokens ?? 0;
    }
    if (event.type === "response.failed") throw new Error(event.response.error?.message ?? "failed");
  }
}

try {
  await { chat, responses }[api]();
} catch (err) {
  told.error = err.name || "Error";
  told.status = err.status ?? 0;
}
console.log(JSON.stringify(told));
