"""Topics and instruction pairs: queries with their titles, narratives with their versions."""
