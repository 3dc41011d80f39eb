//! The functions that written Lua brings along for texts and times, each only where it is used.

use super::helpers::Helper;

pub(super) const TEXTS: &[Helper] = &[
    (
        "upper",
        &[],
        r#"local function upper(value)
  if type(value) ~= "string" then return nil end
  return value:upper()
end"#,
    ),
    (
        "lower",
        &[],
        r#"local function lower(value)
  if type(value) ~= "string" then return nil end
  return value:lower()
end"#,
    ),
    (
        "title",
        &[],
        r#"-- Every Word With A Capital.
local function title(value)
  if type(value) ~= "string" then return nil end
  local result = value:gsub("(%a)([%w']*)", function(first, rest) return first:upper() .. rest:lower() end)
  return result
end"#,
    ),
    (
        "capitalize",
        &[],
        r#"-- The first letter as a capital.
local function capitalize(value)
  if type(value) ~= "string" then return nil end
  return value:sub(1, 1):upper() .. value:sub(2)
end"#,
    ),
    (
        "trim",
        &[],
        r#"local function trim(value)
  if type(value) ~= "string" then return nil end
  return value:match("^%s*(.-)%s*$")
end"#,
    ),
    (
        "before",
        &[],
        r#"-- Up to the first separator; all of it when there is none.
local function before(value, separator)
  if type(value) ~= "string" then return nil end
  local at = value:find(separator, 1, true)
  return at and value:sub(1, at - 1) or value
end"#,
    ),
    (
        "after",
        &[],
        r#"-- From behind the first separator; all of it when there is none.
local function after(value, separator)
  if type(value) ~= "string" then return nil end
  local _, at = value:find(separator, 1, true)
  return at and value:sub(at + 1) or value
end"#,
    ),
    (
        "find_last",
        &[],
        r#"local function find_last(value, separator)
  local first, last
  local from = 1
  while true do
    local at, to = value:find(separator, from, true)
    if not at then return first, last end
    first, last, from = at, to, at + 1
  end
end"#,
    ),
    (
        "before_last",
        &["find_last"],
        r#"-- Up to the last separator; all of it when there is none.
local function before_last(value, separator)
  if type(value) ~= "string" then return nil end
  local at = find_last(value, separator)
  return at and value:sub(1, at - 1) or value
end"#,
    ),
    (
        "after_last",
        &["find_last"],
        r#"-- From behind the last separator; all of it when there is none.
local function after_last(value, separator)
  if type(value) ~= "string" then return nil end
  local _, at = find_last(value, separator)
  return at and value:sub(at + 1) or value
end"#,
    ),
    (
        "parts",
        &[],
        r#"local function parts(value, separator)
  local result, from = {}, 1
  while true do
    local at, to = value:find(separator, from, true)
    result[#result + 1] = value:sub(from, (at or 0) - 1)
    if not at then return result end
    from = to + 1
  end
end"#,
    ),
    (
        "part",
        &["parts"],
        r#"-- One of the parts between separators.
local function part(value, separator, number)
  if type(value) ~= "string" then return nil end
  return parts(value, separator)[number]
end"#,
    ),
    (
        "split",
        &["trim", "parts"],
        r#"-- The trimmed parts between separators.
local function split(value, separator)
  if type(value) ~= "string" then return nil end
  value = trim(value)
  if value == "" then return {} end
  local result = parts(value, separator)
  for index, item in ipairs(result) do result[index] = trim(item) end
  return result
end"#,
    ),
    (
        "start_of",
        &[],
        r#"-- So many characters from the start.
local function start_of(value, length)
  if type(value) ~= "string" then return nil end
  local characters = {}
  for character in value:gmatch(utf8.charpattern) do
    if #characters == length then break end
    characters[#characters + 1] = character
  end
  return table.concat(characters)
end"#,
    ),
    (
        "end_of",
        &[],
        r#"-- So many characters from the end.
local function end_of(value, length)
  if type(value) ~= "string" then return nil end
  local characters = {}
  for character in value:gmatch(utf8.charpattern) do characters[#characters + 1] = character end
  return table.concat(characters, "", math.max(1, #characters - length + 1))
end"#,
    ),
    (
        "replace",
        &["parts"],
        r#"local function replace(value, from, to)
  if type(value) ~= "string" then return nil end
  return table.concat(parts(value, from), to)
end"#,
    ),
    (
        "in_range",
        &[],
        r#"-- Seconds since 1970 within the years that can be written.
local function in_range(seconds)
  if type(seconds) ~= "number" or seconds < -62135596800 or seconds >= 253402300800 then return nil end
  return seconds
end"#,
    ),
    (
        "read_unix",
        &["to_number", "in_range"],
        r#"-- A moment from unix time, in so many parts of a second.
local function read_unix(value, parts_of_second)
  local number = to_number(value)
  if not number then return nil end
  return in_range(number / parts_of_second)
end"#,
    ),
    (
        "read_time",
        &["in_range"],
        r#"-- A moment from a text in this layout; nil when it is not one.
local function read_time(value, layout)
  if type(value) ~= "string" then return nil end
  local seconds = time.parse(value, layout)
  return in_range(seconds)
end"#,
    ),
    (
        "write_time",
        &[],
        r#"-- A moment as text in this layout, in UTC.
local function write_time(seconds, layout)
  if not seconds then return nil end
  local shown = time.format(seconds, layout, "UTC")
  return shown
end"#,
    ),
    (
        "unix_milliseconds",
        &[],
        r#"local function unix_milliseconds(seconds)
  if not seconds then return nil end
  return math.floor(seconds * 1000 + 0.5)
end"#,
    ),
    (
        "unix_seconds",
        &[],
        r#"local function unix_seconds(seconds)
  if not seconds then return nil end
  return math.floor(math.floor(seconds * 1000 + 0.5) / 1000)
end"#,
    ),
];
