# The exact window by hand, as an expert writes it for lines in time order: prints each key that had MARK
# lines in some (t - WINDOW, t], once.
# One queue of keys, indexed by line number, and one count per key. Times are whole seconds, so lines leave
# the window only when a new second begins: those before the first line of the oldest second still in it.
# Counts of 0 are deleted: in mawk that is faster than keeping them, and bounds memory by the window.
BEGIN {
	split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", names, " ")
	for (m in names) month[names[m]] = m + 0
	head = 1
}
$4 != stamp {
	stamp = $4
	if (substr(stamp, 1, 12) != date) {
		date = substr(stamp, 1, 12)
		y = substr(date, 9, 4); m = month[substr(date, 5, 3)]; d = substr(date, 2, 2)
		if (m < 3) { y--; m += 12 }
		day = 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * m - 457) / 5) + d
		# From the first day on: mawk prints an index above 2^31 with six digits, and so mixes times up.
		if (!origin) origin = day
		day -= origin
	}
	now = day * 86400 + substr(stamp, 14, 2) * 3600 + substr(stamp, 17, 2) * 60 + substr(stamp, 20, 2)
	begin[now] = NR
	for (s = now - WINDOW + 1; !(s in begin); s++);
	for (stop = begin[s]; head < stop; head++) {
		k = queue[head]
		delete queue[head]
		if (--count[k] == 0) delete count[k]
	}
}
{
	queue[NR] = $1
	if (++count[$1] >= MARK && !($1 in hot)) { hot[$1]; print $1 }
}
