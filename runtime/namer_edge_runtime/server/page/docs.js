// Shows the server's own OpenAPI description, and lets it be tried.

const $ = (id) => document.getElementById(id);

function make(name, content = [], attributes = {}) {
  const element = document.createElement(name);
  element.append(...[content].flat());
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

const whole = (schema, all) =>
  schema.$ref ? whole(all[schema.$ref.split("/").at(-1)], all)
  : schema.type === "object" ? Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, value]) => [name, whole(value, all)]))
  : schema.type === "array" ? [whole(schema.items, all)]
  : [schema.type, schema.description].filter(Boolean).join(": ");

const LINE = 90; // letters

function pre(value) {
  const short = JSON.stringify(value);
  const shown = typeof value === "string" ? value : short.length <= LINE ? short : JSON.stringify(value, null, 2);
  return make("pre", make("code", shown), { tabindex: 0 });
}

const table = (rows) => make("table", rows.map((row) => make("tr", row.map((cell) => make("td", cell)))));

function operation(path, method, about, all) {
  const parts = [make("h2", [make("b", method.toUpperCase()), make("code", path)]), make("p", `${about.summary.replace(/\w$/, "$&.")} ${about.description ?? ""}`)];
  if (about.parameters) {
    parts.push(make("h3", "Parameters"), table(about.parameters.map((one) => [make("code", one.name), one.description, `${one.schema.minimum} to ${one.schema.maximum}`])));
  }
  if (about.requestBody) {
    parts.push(make("h3", "Body"));
    for (const [kind, { schema, example }] of Object.entries(about.requestBody.content)) {
      parts.push(make("p", make("code", kind)), ...(example || schema.properties ? [pre(example ?? whole(schema, all))] : []));
    }
    parts.push(make("h3", "Try it"), trial(path));
  }
  parts.push(make("h3", "Answers"));
  parts.push(table(Object.entries(about.responses).map(([status, { description }]) => [make("code", status), description])));
  const good = about.responses[200].content["application/json"]?.schema;
  if (good?.$ref) parts.push(pre(whole(good, all)));
  return make("article", parts, { class: "card" });
}

function trial(path) {
  const file = make("input", [], { type: "file", "aria-label": "Picture to read" });
  const answer = make("div", [], { "aria-live": "polite" });
  const command = pre(`curl --data-binary @formula.png '${location.origin}${path}?alternatives=3'`);
  file.onchange = async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    answer.replaceChildren("…");
    const response = await fetch(`${path}?alternatives=3`, { method: "POST", body: chosen }).catch(() => null);
    const said = response ? [make("p", `${response.status}`), pre(await response.json())] : ["the server cannot be reached"];
    if (file.files[0] === chosen) answer.replaceChildren(...said); // else another was chosen since
  };
  return make("div", [command, file, answer]);
}

const description = await (await fetch("/openapi.json")).json();
$("title").textContent = `${description.info.title} ${description.info.version}: HTTP API`;
$("about").textContent = description.info.description;
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, about] of Object.entries(methods)) $("operations").append(operation(path, method, about, description.components.schemas));
}
