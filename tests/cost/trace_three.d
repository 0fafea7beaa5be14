replay:::firing { trace(pid); trace(arg0); trace(arg1); }
