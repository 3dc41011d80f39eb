//! The functions that written Lua brings along for numbers and flags, each only where it is used.

use super::helpers::Helper;

pub(super) const NUMBERS: &[Helper] = &[
    (
        "whole",
        &[],
        r#"-- A number as an integer where it is one.
local function whole(number)
  if number == math.floor(number) and math.abs(number) <= 9007199254740992 then
    return math.floor(number)
  end
  return number
end"#,
    ),
    (
        "tidy",
        &["whole"],
        r#"-- A calculated number without the noise of binary fractions.
local function tidy(number)
  if number == math.floor(number) or math.abs(number) >= 1e9 then return whole(number) end
  return whole(math.floor(number * 1e6 + 0.5) / 1e6)
end"#,
    ),
    (
        "to_number",
        &["whole"],
        r#"-- A number, or the number that a text is; nil for anything else.
local function to_number(value)
  if type(value) == "number" then return value end
  if type(value) ~= "string" or not value:find("^%s*[+-]*%d[%d.eE+-]*%s*$") then return nil end
  local number = tonumber(value)
  if not number or number - number ~= 0 then return nil end
  return whole(number)
end"#,
    ),
    (
        "number_in",
        &["whole"],
        r#"-- The first number in a text.
local function number_in(value)
  if type(value) ~= "string" then return nil end
  local plain = value:gsub(",", "")
  local at = plain:find("%d")
  if not at then return nil end
  local number = tonumber(plain:match("^%d+%.%d+", at) or plain:match("^%d+", at))
  if not number or number - number ~= 0 then return nil end
  local before = plain:sub(1, at - 1)
  if before == "-" or before:find("%s%-$") then number = -number end
  return whole(number)
end"#,
    ),
    (
        "to_boolean",
        &[],
        r#"local function to_boolean(value)
  if type(value) == "boolean" then return value end
  if type(value) == "string" then value = value:lower() end
  if value == "true" or value == "yes" or value == "on" or value == "1" or value == 1 then return true end
  if value == "false" or value == "no" or value == "off" or value == "0" or value == 0 then return false end
  return nil
end"#,
    ),
    (
        "negate",
        &["to_boolean"],
        r#"local function negate(value)
  local flag = to_boolean(value)
  if flag == nil then return nil end
  return not flag
end"#,
    ),
    (
        "times",
        &["whole"],
        r#"-- Multiplied, to the nearest whole number.
local function times(value, factor)
  if type(value) ~= "number" then return nil end
  return whole(math.floor((value + 0.0) * factor + 0.5))
end"#,
    ),
    (
        "divide",
        &["tidy"],
        r#"local function divide(value, divisor)
  if type(value) ~= "number" then return nil end
  return tidy(value / divisor)
end"#,
    ),
    (
        "round",
        &["whole"],
        r#"local function round(value, decimals)
  if type(value) ~= "number" then return nil end
  local scale = 10 ^ decimals
  return whole(math.floor(value * scale + 0.5) / scale)
end"#,
    ),
    (
        "fixed",
        &[],
        r#"-- A number as text with so many decimals.
local function fixed(value, decimals)
  if type(value) ~= "number" then return nil end
  return ("%." .. decimals .. "f"):format(value)
end"#,
    ),
    (
        "grouped",
        &["fixed"],
        r#"-- The same with a comma between thousands.
local function grouped(value, decimals)
  local plain = fixed(value, decimals)
  if not plain then return nil end
  local sign, digits, rest = plain:match("^(%-?)(%d+)(.*)$")
  if not digits then return plain end
  digits = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return sign .. digits .. rest
end"#,
    ),
    (
        "add",
        &["tidy"],
        r#"local function add(a, b)
  if type(a) ~= "number" or type(b) ~= "number" then return nil end
  return tidy(a + 0.0 + b)
end"#,
    ),
    (
        "subtract",
        &["tidy"],
        r#"local function subtract(a, b)
  if type(a) ~= "number" or type(b) ~= "number" then return nil end
  return tidy(a + 0.0 - b)
end"#,
    ),
    (
        "multiply",
        &["tidy"],
        r#"local function multiply(a, b)
  if type(a) ~= "number" or type(b) ~= "number" then return nil end
  return tidy((a + 0.0) * b)
end"#,
    ),
    (
        "count",
        &["list"],
        r#"local function count(value)
  return #list(value)
end"#,
    ),
    (
        "sum",
        &["list", "to_number", "tidy"],
        r#"local function sum(value)
  local total = 0.0
  for _, item in ipairs(list(value)) do total = total + (to_number(item) or 0) end
  return tidy(total)
end"#,
    ),
    (
        "least",
        &["list", "to_number", "tidy"],
        r#"local function least(value)
  local found
  for _, item in ipairs(list(value)) do
    local number = to_number(item)
    if number and (found == nil or number < found) then found = number end
  end
  return found and tidy(found + 0.0)
end"#,
    ),
    (
        "most",
        &["list", "to_number", "tidy"],
        r#"local function most(value)
  local found
  for _, item in ipairs(list(value)) do
    local number = to_number(item)
    if number and (found == nil or number > found) then found = number end
  end
  return found and tidy(found + 0.0)
end"#,
    ),
    (
        "sum_by",
        &["list", "to_number", "to_text", "tidy"],
        r#"-- The sum of one field for each text in another.
local function sum_by(value, key, summed)
  local sums = {}
  for _, item in ipairs(list(value)) do
    local name = type(item) == "table" and to_text(item[key]) or ""
    if name ~= "" then sums[name] = (sums[name] or 0.0) + (to_number(item[summed]) or 0) end
  end
  for name, sum in pairs(sums) do sums[name] = tidy(sum) end
  return sums
end"#,
    ),
    (
        "is_positive",
        &["to_number"],
        r#"local function is_positive(value)
  local number = to_number(value)
  return number ~= nil and number > 0
end"#,
    ),
];
