//! The functions that written JavaScript brings along for values and numbers, each only where it is used.

use super::helpers::Helper;

pub(super) const VALUES: &[Helper] = &[
    (
        "or_else",
        &[],
        r#"function or_else(value, fallback) {
  return value ?? fallback;
}"#,
    ),
    (
        "append",
        &[],
        r#"// Adds an element, unless it is absent.
function append(items, value) {
  if (value !== undefined) items.push(value);
}"#,
    ),
    (
        "copy",
        &[],
        r#"// The fields of an object, without the named ones.
function copy(object, ...removed) {
  if (object === null || typeof object !== "object" || Array.isArray(object)) return {};
  return Object.fromEntries(Object.entries(object).filter(([name]) => !removed.includes(name)));
}"#,
    ),
    (
        "fields",
        &[],
        r#"// The fields of an object as [name, value].
function fields(object, sorted) {
  if (object === null || typeof object !== "object" || Array.isArray(object)) return [];
  const entries = Object.entries(object);
  return sorted ? entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)) : entries;
}"#,
    ),
    (
        "last",
        &["list"],
        r#"function last(value) {
  const items = list(value);
  return items[items.length - 1];
}"#,
    ),
    (
        "find",
        &["list"],
        r#"// The element of a list whose field is the wanted text: find(items, "type", "home").
function find(value, ...names) {
  const wanted = names.pop();
  return list(value).find((item) => names.reduce((field, name) => field?.[name], item) === wanted);
}"#,
    ),
    (
        "parse_json",
        &[],
        r#"// The document in a JSON text; undefined when it is not one.
function parse_json(value) {
  if (typeof value !== "string") return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}"#,
    ),
    (
        "to_text",
        &[],
        r#"// A text, number or boolean as text; undefined for anything else.
function to_text(value) {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return undefined;
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(14)));
}"#,
    ),
    (
        "text",
        &["to_text"],
        r#"// The same for a place in a text: empty when there is nothing to show.
function text(value) {
  return to_text(value) ?? "";
}"#,
    ),
    (
        "join",
        &["list", "to_text"],
        r#"// The elements of a list as one text.
function join(value, separator) {
  if (value === undefined) return undefined;
  return list(value).map(to_text).filter((item) => item !== undefined).join(separator);
}"#,
    ),
    (
        "tidy",
        &[],
        r#"// A calculated number without the noise of binary fractions.
function tidy(number) {
  if (Number.isInteger(number) || Math.abs(number) >= 1e9) return number;
  return Math.floor(number * 1e6 + 0.5) / 1e6;
}"#,
    ),
    (
        "to_number",
        &[],
        r#"// A number, or the number that a text is; undefined for anything else.
function to_number(value) {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !/^\s*[+-]*\d[\d.eE+-]*\s*$/.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}"#,
    ),
    (
        "number_in",
        &[],
        r#"// The first number in a text.
function number_in(value) {
  if (typeof value !== "string") return undefined;
  const found = /(^-|\s-)?(\d+(?:\.\d+)?)/.exec(value.replaceAll(",", ""));
  if (!found || !Number.isFinite(Number(found[2]))) return undefined;
  return found[1] ? -Number(found[2]) : Number(found[2]);
}"#,
    ),
    (
        "to_boolean",
        &[],
        r#"function to_boolean(value) {
  const flag = typeof value === "string" ? value.toLowerCase() : value;
  if ([true, "true", "yes", "on", "1", 1].includes(flag)) return true;
  if ([false, "false", "no", "off", "0", 0].includes(flag)) return false;
  return undefined;
}"#,
    ),
    (
        "negate",
        &["to_boolean"],
        r#"function negate(value) {
  const flag = to_boolean(value);
  return flag === undefined ? undefined : !flag;
}"#,
    ),
    (
        "times",
        &[],
        r#"// Multiplied, to the nearest whole number.
function times(value, factor) {
  return typeof value === "number" ? Math.floor(value * factor + 0.5) : undefined;
}"#,
    ),
    (
        "divide",
        &["tidy"],
        r#"function divide(value, divisor) {
  return typeof value === "number" ? tidy(value / divisor) : undefined;
}"#,
    ),
    (
        "round",
        &[],
        r#"function round(value, decimals) {
  const scale = 10 ** decimals;
  return typeof value === "number" ? Math.floor(value * scale + 0.5) / scale : undefined;
}"#,
    ),
    (
        "fixed",
        &[],
        r#"// A number as text with so many decimals.
function fixed(value, decimals) {
  return typeof value === "number" ? value.toFixed(decimals) : undefined;
}"#,
    ),
    (
        "grouped",
        &["fixed"],
        r#"// The same with a comma between thousands.
function grouped(value, decimals) {
  return fixed(value, decimals)?.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}"#,
    ),
    (
        "add",
        &["tidy"],
        r#"function add(a, b) {
  return typeof a === "number" && typeof b === "number" ? tidy(a + b) : undefined;
}"#,
    ),
    (
        "subtract",
        &["tidy"],
        r#"function subtract(a, b) {
  return typeof a === "number" && typeof b === "number" ? tidy(a - b) : undefined;
}"#,
    ),
    (
        "multiply",
        &["tidy"],
        r#"function multiply(a, b) {
  return typeof a === "number" && typeof b === "number" ? tidy(a * b) : undefined;
}"#,
    ),
    (
        "count",
        &["list"],
        r#"function count(value) {
  return list(value).length;
}"#,
    ),
    (
        "sum",
        &["list", "to_number", "tidy"],
        r#"function sum(value) {
  return tidy(list(value).reduce((total, item) => total + (to_number(item) ?? 0), 0));
}"#,
    ),
    (
        "least",
        &["list", "to_number", "tidy"],
        r#"function least(value) {
  const numbers = list(value).map(to_number).filter((number) => number !== undefined);
  return numbers.length > 0 ? tidy(numbers.reduce((a, b) => Math.min(a, b))) : undefined;
}"#,
    ),
    (
        "most",
        &["list", "to_number", "tidy"],
        r#"function most(value) {
  const numbers = list(value).map(to_number).filter((number) => number !== undefined);
  return numbers.length > 0 ? tidy(numbers.reduce((a, b) => Math.max(a, b))) : undefined;
}"#,
    ),
    (
        "count_by",
        &["list", "to_text"],
        r#"// How many elements have each text in a field.
function count_by(value, key) {
  const counts = new Map();
  for (const item of list(value)) {
    const name = to_text(item?.[key]) ?? "";
    if (name !== "") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}"#,
    ),
    (
        "sum_by",
        &["list", "to_number", "to_text", "tidy"],
        r#"// The sum of one field for each text in another.
function sum_by(value, key, summed) {
  const sums = new Map();
  for (const item of list(value)) {
    const name = to_text(item?.[key]) ?? "";
    if (name !== "") sums.set(name, (sums.get(name) ?? 0) + (to_number(item?.[summed]) ?? 0));
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, tidy(sum)]));
}"#,
    ),
    (
        "sorted",
        &["list"],
        r#"// A list in the order of a field: numbers, then texts, then what has neither.
function sorted(value, key, descending) {
  const rank = (field) => (typeof field === "number" ? 1 : typeof field === "string" ? 2 : 3);
  const order = (a, b) => rank(a) - rank(b) || (rank(a) === 3 || a === b ? 0 : a < b ? -1 : 1);
  const direction = descending ? -1 : 1;
  return [...list(value)].sort((a, b) => direction * order(a?.[key], b?.[key]));
}"#,
    ),
    (
        "is_positive",
        &["to_number"],
        r#"function is_positive(value) {
  return (to_number(value) ?? 0) > 0;
}"#,
    ),
];

/// `list` for JSON.
pub(super) const LIST: &str = r#"// A list to walk through; empty when it is missing.
function list(value) {
  return Array.isArray(value) ? value : [];
}"#;

/// `list` for XML.
pub(super) const XML_LIST: &str = r#"// A list to walk through: an element that occurs once is a list of one, a missing one is empty.
function list(value) {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}"#;
