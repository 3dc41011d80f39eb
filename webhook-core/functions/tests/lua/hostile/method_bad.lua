-- expect: not a request method
r:SetRequestMethod("GET / HTTP/1.1")
