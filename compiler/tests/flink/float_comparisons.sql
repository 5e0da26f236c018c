SELECT id FROM events WHERE f = f
