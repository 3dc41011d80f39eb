-- expect: control characters
r:SetRequestHeader("X-A", "b\r\nX-Evil: 1")
