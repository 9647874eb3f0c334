"""What JAX offers as experimental, and Covector too."""
