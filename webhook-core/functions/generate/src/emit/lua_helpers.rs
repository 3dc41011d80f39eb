//! The functions that written Lua brings along for values, each only where it is used.

use super::helpers::Helper;

pub(super) const VALUES: &[Helper] = &[
    (
        "get",
        &[],
        r#"-- A nested field; nil when any part of the way is missing.
local function get(value, ...)
  for _, key in ipairs({ ... }) do
    if type(value) ~= "table" then return nil end
    value = value[key]
  end
  return value
end"#,
    ),
    (
        "get_xml",
        &["list"],
        r#"-- A nested field; nil when any part of the way is missing. An element that occurs once counts as a list of one.
local function get_xml(value, ...)
  for _, key in ipairs({ ... }) do
    if type(key) == "number" then
      value = list(value)[key]
    elseif type(value) == "table" then
      value = value[key]
    else
      return nil
    end
  end
  return value
end"#,
    ),
    (
        "or_null",
        &[],
        r#"-- Keeps the place of an absent element in a list.
local function or_null(value)
  if value == nil then return json.null end
  return value
end"#,
    ),
    (
        "or_else",
        &[],
        r#"local function or_else(value, default)
  if value == nil or value == json.null then return default end
  return value
end"#,
    ),
    (
        "append",
        &[],
        r#"-- Adds an element, unless it is absent.
local function append(items, value)
  if value ~= nil then items[#items + 1] = value end
end"#,
    ),
    (
        "copy",
        &[],
        r#"-- The fields of an object, without the named ones.
local function copy(object, ...)
  local result = {}
  if type(object) ~= "table" then return result end
  for key, value in pairs(object) do result[key] = value end
  for _, key in ipairs({ ... }) do result[key] = nil end
  return result
end"#,
    ),
    (
        "fields",
        &[],
        r#"-- The names of an object's fields in order.
local function fields(object)
  local names = {}
  if type(object) ~= "table" then return names end
  for name in pairs(object) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end"#,
    ),
    (
        "last",
        &["list"],
        r#"local function last(value)
  local items = list(value)
  return items[#items]
end"#,
    ),
    (
        "find",
        &["list"],
        r#"-- The element of a list whose field is the wanted text: find(items, "type", "home").
local function find(value, ...)
  local names = { ... }
  local wanted = table.remove(names)
  for _, item in ipairs(list(value)) do
    local field = item
    for _, name in ipairs(names) do field = type(field) == "table" and field[name] or nil end
    if field == wanted then return item end
  end
  return nil
end"#,
    ),
    (
        "sorted",
        &["list"],
        r#"-- A list in the order of a field: numbers, then texts, then what has neither.
local function sorted(value, key, descending)
  local out, ranks = {}, { number = 1, string = 2 }
  for at, item in ipairs(list(value)) do
    local field
    if type(item) == "table" then field = item[key] end
    out[at] = { item = item, at = at, field = field, rank = ranks[type(field)] or 3 }
  end
  table.sort(out, function(a, b)
    if a.rank ~= b.rank then return (a.rank < b.rank) ~= descending end
    if a.rank < 3 and a.field ~= b.field then return (a.field < b.field) ~= descending end
    return a.at < b.at
  end)
  for at, entry in ipairs(out) do out[at] = entry.item end
  return out
end"#,
    ),
    (
        "parse_json",
        &[],
        r#"-- The document in a JSON text; nil when it is not one.
local function parse_json(value)
  if type(value) ~= "string" then return nil end
  local document = json.decode(value)
  return document
end"#,
    ),
    (
        "to_text",
        &[],
        r#"-- A text, number or boolean as text; nil for anything else.
local function to_text(value)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "boolean" then return tostring(value) end
  if kind ~= "number" then return nil end
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value == math.floor(value) then return ("%.0f"):format(value) end
  return ("%.14g"):format(value)
end"#,
    ),
    (
        "text",
        &["to_text"],
        r#"-- The same for a place in a text: empty when there is nothing to show.
local function text(value)
  return to_text(value) or ""
end"#,
    ),
    (
        "join",
        &["to_text", "list"],
        r#"-- The elements of a list as one text.
local function join(value, separator)
  if value == nil then return nil end
  local texts = {}
  for _, item in ipairs(list(value)) do
    local shown = to_text(item)
    if shown then texts[#texts + 1] = shown end
  end
  return table.concat(texts, separator)
end"#,
    ),
    (
        "count_by",
        &["list", "to_text"],
        r#"-- How many elements have each text in a field.
local function count_by(value, key)
  local counts = {}
  for _, item in ipairs(list(value)) do
    local name = type(item) == "table" and to_text(item[key]) or ""
    if name ~= "" then counts[name] = (counts[name] or 0) + 1 end
  end
  return counts
end"#,
    ),
];

/// `list` for JSON.
pub(super) const LIST: &str = r#"-- A list to walk through; empty when it is missing.
local function list(value)
  if type(value) == "table" then return value end
  return {}
end"#;

/// `list` for XML.
pub(super) const XML_LIST: &str = r#"-- A list to walk through: an element that occurs once is a list of one, a missing one is empty.
local function list(value)
  if value == nil then return {} end
  if type(value) == "table" and value[1] ~= nil then return value end
  return { value }
end"#;
