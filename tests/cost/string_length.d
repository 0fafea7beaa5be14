replay:::firing { @ = max(strlen(execname)); }
