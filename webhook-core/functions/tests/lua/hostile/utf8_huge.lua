-- expect: ok
local _ = utf8.len(("\u{10FFFF}"):rep(100000))
