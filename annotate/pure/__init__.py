"""What is true of texts, tables and grades whoever asks: no database, no Django."""
