"""Programs of several processes: how these find each other."""
