-- expect: ok
r:SetRequestPath("/a b\r\nHost: evil?x#y")
