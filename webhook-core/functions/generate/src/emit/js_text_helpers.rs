//! The functions that written JavaScript brings along for texts and times, each only where it is used.

use super::helpers::Helper;

pub(super) const TEXTS: &[Helper] = &[
    (
        "upper",
        &[],
        r#"function upper(value) {
  return typeof value === "string" ? value.toUpperCase() : undefined;
}"#,
    ),
    (
        "lower",
        &[],
        r#"function lower(value) {
  return typeof value === "string" ? value.toLowerCase() : undefined;
}"#,
    ),
    (
        "title",
        &[],
        r#"// Every Word With A Capital.
function title(value) {
  if (typeof value !== "string") return undefined;
  return value.replace(/([A-Za-z])([A-Za-z0-9']*)/g, (_, first, rest) => first.toUpperCase() + rest.toLowerCase());
}"#,
    ),
    (
        "capitalize",
        &[],
        r#"// The first letter as a capital.
function capitalize(value) {
  return typeof value === "string" ? value.slice(0, 1).toUpperCase() + value.slice(1) : undefined;
}"#,
    ),
    (
        "trim",
        &[],
        r#"function trim(value) {
  return typeof value === "string" ? value.trim() : undefined;
}"#,
    ),
    (
        "before",
        &[],
        r#"// Up to the first separator; all of it when there is none.
function before(value, separator) {
  if (typeof value !== "string") return undefined;
  const at = value.indexOf(separator);
  return at < 0 ? value : value.slice(0, at);
}"#,
    ),
    (
        "after",
        &[],
        r#"// From behind the first separator; all of it when there is none.
function after(value, separator) {
  if (typeof value !== "string") return undefined;
  const at = value.indexOf(separator);
  return at < 0 ? value : value.slice(at + separator.length);
}"#,
    ),
    (
        "before_last",
        &[],
        r#"// Up to the last separator; all of it when there is none.
function before_last(value, separator) {
  if (typeof value !== "string") return undefined;
  const at = value.lastIndexOf(separator);
  return at < 0 ? value : value.slice(0, at);
}"#,
    ),
    (
        "after_last",
        &[],
        r#"// From behind the last separator; all of it when there is none.
function after_last(value, separator) {
  if (typeof value !== "string") return undefined;
  const at = value.lastIndexOf(separator);
  return at < 0 ? value : value.slice(at + separator.length);
}"#,
    ),
    (
        "part",
        &[],
        r#"// One of the parts between separators.
function part(value, separator, number) {
  return typeof value === "string" ? value.split(separator)[number - 1] : undefined;
}"#,
    ),
    (
        "split",
        &[],
        r#"// The trimmed parts between separators.
function split(value, separator) {
  if (typeof value !== "string") return undefined;
  return value.trim() === "" ? [] : value.trim().split(separator).map((item) => item.trim());
}"#,
    ),
    (
        "start_of",
        &[],
        r#"// So many characters from the start.
function start_of(value, length) {
  return typeof value === "string" ? Array.from(value).slice(0, length).join("") : undefined;
}"#,
    ),
    (
        "end_of",
        &[],
        r#"// So many characters from the end.
function end_of(value, length) {
  return typeof value === "string" ? Array.from(value).slice(-length).join("") : undefined;
}"#,
    ),
    (
        "replace",
        &[],
        r#"function replace(value, from, to) {
  return typeof value === "string" ? value.split(from).join(to) : undefined;
}"#,
    ),
    (
        "in_range",
        &[],
        r#"// Seconds since 1970 within the years that can be written.
function in_range(seconds) {
  return typeof seconds === "number" && seconds >= -62135596800 && seconds < 253402300800 ? seconds : undefined;
}"#,
    ),
    (
        "read_unix",
        &["to_number", "in_range"],
        r#"// A moment from unix time, in so many parts of a second.
function read_unix(value, parts_of_second) {
  const number = to_number(value);
  return number === undefined ? undefined : in_range(number / parts_of_second);
}"#,
    ),
    (
        "read_time",
        &["in_range"],
        r#"// A moment from a text in this layout; undefined when it is not one.
function read_time(value, layout) {
  if (typeof value !== "string") return undefined;
  try {
    return in_range(time.parse(value, layout));
  } catch {
    return undefined;
  }
}"#,
    ),
    (
        "write_time",
        &[],
        r#"// A moment as text in this layout, in UTC.
function write_time(seconds, layout) {
  return seconds === undefined ? undefined : time.format(seconds, layout, "UTC");
}"#,
    ),
    (
        "unix_milliseconds",
        &[],
        r#"function unix_milliseconds(seconds) {
  return seconds === undefined ? undefined : Math.floor(seconds * 1000 + 0.5);
}"#,
    ),
    (
        "unix_seconds",
        &[],
        r#"function unix_seconds(seconds) {
  return seconds === undefined ? undefined : Math.floor(Math.floor(seconds * 1000 + 0.5) / 1000);
}"#,
    ),
    (
        "encode_form",
        &[],
        r#"function encode_form(object) {
  const pairs = [];
  for (const [name, value] of Object.entries(object)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item != null) pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(item)}`);
    }
  }
  return pairs.join("&");
}"#,
    ),
];
