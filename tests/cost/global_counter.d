long calls;
replay:::firing { calls++; }
