# The exact window by hand with a window per key: prints each key that had MARK lines in some
# (t - WINDOW, t], once. Needs lines in time order.
# A ring of the last MARK times per key: the mark is reached when the oldest of them is still in the window.
# (A queue per key that drops what has expired was tried: 0.6 times the speed.)
BEGIN {
	split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", names, " ")
	for (m in names) month[names[m]] = m + 0
}
$4 != stamp {
	stamp = $4
	if (substr(stamp, 1, 12) != date) {
		date = substr(stamp, 1, 12)
		y = substr(date, 9, 4); m = month[substr(date, 5, 3)]; d = substr(date, 2, 2)
		if (m < 3) { y--; m += 12 }
		day = 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * m - 457) / 5) + d
	}
	now = day * 86400 + substr(stamp, 14, 2) * 3600 + substr(stamp, 17, 2) * 60 + substr(stamp, 20, 2)
}
{
	k = $1
	n = ++seen[k]
	ring[k, n % MARK] = now
	if (n >= MARK && now - ring[k, (n + 1) % MARK] < WINDOW && !(k in hot)) { hot[k]; print k }
}
