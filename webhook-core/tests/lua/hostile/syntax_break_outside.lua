-- expect: break outside
break
