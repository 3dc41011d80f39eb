-- expect: ok
return utf8.len(("\u{10FFFF}"):rep(100000))
