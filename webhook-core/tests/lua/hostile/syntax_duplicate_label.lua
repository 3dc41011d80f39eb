-- expect: label
::a:: ::a::
