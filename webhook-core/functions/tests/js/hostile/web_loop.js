// ends: compute time
for (;;) { const u = new URL("http://a.example/?a=1"); u.searchParams.append("b", "c"); structuredClone({ u: [1] }); }
