local function near(x) return string.format("%.12g", x) end
print(math.abs(-5), math.abs(5.5), math.ceil(1.2), math.ceil(-1.2), math.floor(1.8), math.floor(-1.8), math.max(1, 5, 3), math.min(4, 2, 8), math.max(-1))
for _, name in ipairs({ "sin", "cos", "tan", "asin", "acos", "atan", "exp", "sqrt", "log", "log10", "sinh", "cosh", "tanh", "deg", "rad" }) do print(name, near(math[name](0.5)), near(math[name](1))) end
print(near(math.pow(2, 0.5)), near(math.atan2(1, -1)), near(math.ldexp(0.75, 3)), math.fmod(7, 3), math.fmod(-7, 3), near(math.fmod(5.5, 2)), near(math.pi)) print(math.frexp(8)) print(math.frexp(-0.3)) print(math.frexp(0)) print(math.frexp(1e-310)) print(math.frexp(2^1023)) print(near(math.modf(3.7)), near(select(2, math.modf(3.7))))
print(7 % 3, -7 % 3, 7 % -3, -7 % -3, near(5.5 % 2), near(-5.5 % 2), near(5 % math.huge), near(-5 % math.huge)) print(1 / 0, -1 / 0, (0 / 0) ~= (0 / 0), math.huge, -math.huge, math.huge == 1 / 0)
print(2 ^ 0.5 == math.sqrt(2), near(2 ^ -1), -2 ^ 2 == -4, 2 ^ 3 ^ 2 == 512, near(10 / 4), 7 - 3 * 2, (7 - 3) * 2, -3 + 5, - -3) print(0.1 + 0.2 == 0.3, near(0.1 + 0.2), 1e308 * 10, 5 == 5.0, "5" == 5, 0 == -0)
print(1 < 2, 1 <= 1, 2 > 1, 1 ~= 2, not nil, not 0, nil and 1, false or "x", 1 and 2, nil == false) print(0xff, 1e2 == 100, .5, 3., 0x10 + 1)
math.randomseed(42) local low, high = 10, 0 for _ = 1, 1000 do local n = math.random(10) low, high = math.min(low, n), math.max(high, n) end print(low, high) local r = math.random() print(r >= 0 and r < 1, (pcall(math.random, 0)) and 1 or 0)
print((pcall(math.floor, "x")), math.floor("3.7"), (pcall(math.max)), (pcall(function() return 1 + nil end)), (pcall(function() return -{} end)), (pcall(function() return #5 end)))
-- On purpose as in 5.4: integers of 64 bits that wrap around, floats that show themselves.
print(2 ^ 31, 9007199254740993, 9223372036854775807 + 1, 10 / 2, 7.0, 1e15, math.sqrt(16), 3 % -2.0, 100 * 1.0) print((pcall(function() return 1 % 0 end)), 5.0 % 3)
