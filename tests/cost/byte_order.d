replay:::firing { @ = sum(ntohs(arg1) + htonl(arg0)); }
