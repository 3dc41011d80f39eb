// Just enough of a script's surroundings to run written functions with Node.
// Standard input: content type, line break, length of the source in bytes, line break, the source, the body.
const input = require("fs").readFileSync(0);
const first = input.indexOf(10);
const second = input.indexOf(10, first + 1);
const contentType = input.subarray(0, first).toString();
const length = Number(input.subarray(first + 1, second).toString());
const source = input.subarray(second + 1, second + 1 + length).toString();
const body = input.subarray(second + 1 + length).toString();

const ELEMENTS = /January|Jan|Monday|Mon|MST|2006|Z07:00|-07:00|-0700|15|01|02|03|04|05|PM|_2|06|1|2|3|\.000000|\.000/g;
const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const pad = (n, width = 2) => String(n).padStart(width, "0");
const time = {
  format(seconds, layout, zone) {
    if (zone !== "UTC") throw new Error("UTC only");
    const micros = Math.floor(seconds * 1e6 + 0.5);
    const t = new Date(Math.floor(micros / 1000));
    const rest = ((micros % 1e6) + 1e6) % 1e6;
    const hour12 = ((t.getUTCHours() + 11) % 12) + 1;
    const month = MONTHS[t.getUTCMonth()];
    const day = DAYS[t.getUTCDay()];
    const shown = {
      January: month, Jan: month.slice(0, 3), Monday: day, Mon: day.slice(0, 3), MST: "UTC", 2006: pad(t.getUTCFullYear(), 4),
      "06": pad(t.getUTCFullYear() % 100), "Z07:00": "Z", "-07:00": "+00:00", "-0700": "+0000", 15: pad(t.getUTCHours()),
      "03": pad(hour12), 3: String(hour12), "01": pad(t.getUTCMonth() + 1), 1: String(t.getUTCMonth() + 1),
      "02": pad(t.getUTCDate()), _2: String(t.getUTCDate()).padStart(2), 2: String(t.getUTCDate()), "04": pad(t.getUTCMinutes()),
      "05": pad(t.getUTCSeconds()), PM: t.getUTCHours() < 12 ? "AM" : "PM", ".000": "." + pad(Math.floor(rest / 1000), 3),
      ".000000": "." + pad(rest, 6),
    };
    return layout.replace(ELEMENTS, (element) => shown[element]);
  },
  parse(text, layout) {
    const names = [];
    const group = (name, pattern) => (names.push(name), `(${pattern})`);
    const patterns = {
      January: () => group("month", MONTHS.join("|")), Jan: () => group("mon", MONTHS.map((m) => m.slice(0, 3)).join("|")),
      Monday: () => `(?:${DAYS.join("|")})`, Mon: () => `(?:${DAYS.map((d) => d.slice(0, 3)).join("|")})`,
      MST: () => "(?:UTC|GMT)", 2006: () => group("y", "\\d{4}"), "Z07:00": () => group("zone", "Z|[+-]\\d\\d:\\d\\d"),
      "-07:00": () => group("zone", "[+-]\\d\\d:\\d\\d"), "-0700": () => group("zone", "[+-]\\d{4}"), 15: () => group("h", "\\d\\d"),
      "03": () => group("h", "\\d\\d"), 3: () => group("h", "\\d\\d?"), "01": () => group("m", "\\d\\d"), 1: () => group("m", "\\d\\d?"),
      "02": () => group("d", "\\d\\d"), 2: () => group("d", "\\d\\d?"), _2: () => group("d", " ?\\d\\d?"), "04": () => group("min", "\\d\\d"),
      "05": () => group("s", "\\d\\d(?:\\.\\d+)?"), PM: () => group("half", "[AaPp][Mm]"), ".000": () => "", ".000000": () => "",
    };
    let pattern = "";
    let at = 0;
    for (const found of layout.matchAll(ELEMENTS)) {
      pattern += layout.slice(at, found.index).replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + patterns[found[0]]();
      at = found.index + found[0].length;
    }
    pattern += layout.slice(at).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const match = new RegExp(`^${pattern}$`, "i").exec(text);
    if (!match) throw new Error("cannot parse");
    const f = Object.fromEntries(names.map((name, i) => [name, match[i + 1]]));
    const index = (list, name, cut) => list.findIndex((m) => m.slice(0, cut).toLowerCase() === name.toLowerCase());
    const month = f.month ? index(MONTHS, f.month) : f.mon ? index(MONTHS, f.mon, 3) : Number(f.m) - 1;
    let hour = Number(f.h ?? 0);
    if (f.half) hour = (hour % 12) + (f.half.toLowerCase() === "pm" ? 12 : 0);
    let offset = 0;
    if (f.zone && f.zone !== "Z") {
      const digits = f.zone.replace(":", "");
      offset = (Number(digits.slice(1, 3)) * 3600 + Number(digits.slice(3)) * 60) * (digits[0] === "-" ? -1 : 1);
    }
    const date = Date.UTC(Number(f.y), month, Number(f.d), hour, Number(f.min ?? 0), 0);
    if (new Date(date).getUTCDate() !== Number(f.d)) throw new Error("cannot parse");
    return date / 1000 + Number(f.s ?? 0) - offset;
  },
};

const unescape = (text) =>
  text.replace(/&(#?)(\w+);/g, (_, hash, name) =>
    hash ? String.fromCodePoint(Number(name)) : { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }[name]);
const xml = {
  decode(document) {
    const tokens = document.replace(/<\?.*?\?>|<!--.*?-->/gs, "").match(/<!\[CDATA\[.*?\]\]>|<[^>]+>|[^<]+/gs) ?? [];
    const root = { fields: {}, text: "" };
    const stack = [root];
    const add = (fields, name, value) => {
      if (!(name in fields)) fields[name] = value;
      else if (Array.isArray(fields[name])) fields[name].push(value);
      else fields[name] = [fields[name], value];
    };
    const close = () => {
      const { name, fields, text } = stack.pop();
      const words = text.trim();
      if (Object.keys(fields).length === 0) return add(stack.at(-1).fields, name, words);
      if (words !== "") fields["#text"] = words;
      add(stack.at(-1).fields, name, fields);
    };
    for (const token of tokens) {
      if (token.startsWith("<![CDATA[")) stack.at(-1).text += token.slice(9, -3);
      else if (token.startsWith("</")) close();
      else if (token.startsWith("<")) {
        const [, name, attributes, empty] = /^<([^\s\/>]+)([^]*?)(\/?)>$/.exec(token);
        const fields = {};
        for (const [, key, , value] of attributes.matchAll(/([^\s=]+)\s*=\s*(["'])(.*?)\2/g)) fields["-" + key] = unescape(value);
        stack.push({ name, fields, text: "" });
        if (empty) close();
      } else stack.at(-1).text += unescape(token);
    }
    return root.fields;
  },
  encode(value) {
    const escape = (text) => String(text).replace(/[<>&"]/g, (c) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[c]);
    const element = (name, content) => {
      if (content === undefined) return "";
      if (Array.isArray(content)) return content.map((item) => element(name, item)).join("");
      if (typeof content !== "object") return `<${name}>${escape(content)}</${name}>`;
      let attributes = "";
      let inner = "";
      for (const [key, item] of Object.entries(content)) {
        if (key === "#text") inner += escape(item);
        else if (key.startsWith("-")) attributes += ` ${key.slice(1)}="${escape(item)}"`;
        else inner += element(key, item);
      }
      return `<${name}${attributes}>${inner}</${name}>`;
    };
    return element(...Object.entries(value)[0]);
  },
};

const r = {
  body,
  answered: body,
  setBody(text) {
    if (typeof text !== "string") throw new Error("the body is not a text");
    this.answered = text;
  },
  setHeader() {},
};
if (contentType.includes("form")) {
  r.formData = {};
  for (const [key, value] of new URLSearchParams(body)) (r.formData[key] ??= []).push(value);
}
const transform = new Function("time", "xml", `"use strict";\n${source}\nreturn transform;`)(time, xml);
process.stdout.write(transform(r).answered);
