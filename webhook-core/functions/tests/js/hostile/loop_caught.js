// ends: compute time | fuel
for (;;) { try { for (;;) {} } catch {} finally { continue; } }
