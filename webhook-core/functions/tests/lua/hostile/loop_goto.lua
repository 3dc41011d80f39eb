-- expect: fuel|compute time|total time
::top:: goto top
