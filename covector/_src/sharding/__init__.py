"""How arrays are spread over devices: meshes, specifications, and the shardings made of them."""
