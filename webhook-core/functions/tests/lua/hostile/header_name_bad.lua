-- expect: not a header name
r:SetRequestHeader("a b", "c")
