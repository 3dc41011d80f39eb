-- expect: no visible label
goto nowhere
