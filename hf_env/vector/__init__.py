"""Many games side by side in shared buffers."""
