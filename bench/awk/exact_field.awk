# The exact window with a ring of the last MARK times per key, as in exact_per_key.awk, of lines whose field TIME is
# in seconds with a fraction and whose field KEY is the key.
{
	k = $KEY
	now = $TIME + 0
	n = ++seen[k]
	ring[k, n % MARK] = now
	if (n >= MARK && now - ring[k, (n + 1) % MARK] < WINDOW && !(k in hot)) { hot[k]; print k }
}
