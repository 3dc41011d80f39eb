-- expect: malformed
return ("x"):find("[%")
