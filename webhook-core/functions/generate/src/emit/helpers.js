// A list to walk through; empty when it is missing.
function list(value) {
  return Array.isArray(value) ? value : [];
}

// What the function makes of each element; an element of which it makes nothing is left out.
function each(value, make) {
  return list(value).map(make).filter((made) => made !== undefined);
}

// The elements for which the test is true.
function filter(value, test) {
  return list(value).filter(test);
}

// The elements of the lists in a list.
function flat(value) {
  return value.flat();
}

// A nested field; undefined when any part of the way is missing.
function get(value, ...names) {
  return names.reduce((at, name) => at?.[name], value);
}

// A list in the order of a field: numbers, then texts, then the elements that have neither.
function sorted(value, descending, ...names) {
  const rank = (field) => ({ number: 1, string: 2 })[typeof field] ?? 3;
  const order = (a, b) => rank(a) - rank(b) || (rank(a) === 3 || a === b ? 0 : a < b ? -1 : 1);
  const sign = descending ? -1 : 1;
  return [...list(value)].sort((a, b) => sign * order(get(a, ...names), get(b, ...names)));
}

// A text, number or boolean as text; undefined for anything else.
function to_text(value) {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return undefined;
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(14)));
}

// The same for a place in a text: empty when the value is missing.
function text(value) {
  return to_text(value) ?? "";
}

// The texts in a list as one text.
function join(value, separator, ...names) {
  if (value === undefined) return undefined;
  return each(value, (item) => to_text(get(item, ...names))).join(separator);
}

// A calculated number without the noise of binary fractions.
function tidy(number) {
  if (Number.isInteger(number) || Math.abs(number) >= 1e9) return number;
  return Math.floor(number * 1e6 + 0.5) / 1e6;
}

// A number, or the number that a text is; undefined for anything else.
function to_number(value) {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !/^\s*[+-]*\d[\d.eE+-]*\s*$/.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function at_least(value, least) {
  return to_number(value) >= least;
}

function below(value, limit) {
  return to_number(value) < limit;
}

// Multiplied, to the nearest whole number.
function times(value, factor) {
  return typeof value === "number" ? Math.floor(value * factor + 0.5) : undefined;
}

function divide(value, divisor) {
  return typeof value === "number" ? tidy(value / divisor) : undefined;
}

// A number as text with this number of decimals.
function fixed(value, decimals) {
  return typeof value === "number" ? value.toFixed(decimals) : undefined;
}

// The same with a comma between thousands.
function grouped(value, decimals) {
  return fixed(value, decimals)?.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}

function count(value) {
  return list(value).length;
}

// The sum of a field of each element.
function sum(value, ...names) {
  return tidy(list(value).reduce((total, item) => total + (to_number(get(item, ...names)) ?? 0), 0));
}

// The sum of one field for each text in another; without a field, how many elements have the text.
function sum_by(value, key, summed) {
  const sums = new Map();
  for (const item of list(value)) {
    const name = text(item?.[key]);
    const more = summed === undefined ? 1 : to_number(item[summed]) ?? 0;
    if (name !== "") sums.set(name, (sums.get(name) ?? 0) + more);
  }
  return Object.fromEntries([...sums].map(([name, total]) => [name, tidy(total)]));
}

function upper(value) {
  return typeof value === "string" ? value.toUpperCase() : undefined;
}

// A moment in seconds since 1970: from a text in this layout, or from a number in parts of a second.
function read_time(value, form) {
  let seconds;
  if (typeof form === "number") {
    seconds = to_number(value) / form;
  } else if (typeof value === "string") {
    try {
      seconds = time.parse(value, form);
    } catch {
      return undefined;
    }
  }
  return seconds >= -62135596800 && seconds < 253402300800 ? seconds : undefined;
}

// A moment as text in this layout, in UTC, or as a number in parts of a second.
function write_time(seconds, form) {
  if (seconds === undefined) return undefined;
  if (typeof form === "number") return Math.floor((Math.floor(seconds * 1000 + 0.5) * form) / 1000);
  return time.format(seconds, form, "UTC");
}
