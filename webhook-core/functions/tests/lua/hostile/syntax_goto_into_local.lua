-- expect: local|label
goto a local x = 1 ::a:: print(x)
