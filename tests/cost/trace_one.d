replay:::firing { trace(arg1); }
