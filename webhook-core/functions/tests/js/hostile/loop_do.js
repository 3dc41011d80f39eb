// ends: compute time | fuel
do {} while (true);
