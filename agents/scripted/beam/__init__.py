"""The player `beam`: plans a turn's lay-downs by a beam search."""
