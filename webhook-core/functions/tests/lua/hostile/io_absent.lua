-- expect: attempt
io.open("/etc/passwd")
