// ends: compute time | fuel
throw { toString() { for (;;) {} } };
